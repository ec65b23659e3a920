"""Graphs of labelled nodes: read from plain or Planetoid files, stored in one file that opens at once."""
