"""Graphs of labelled nodes: read from plain files or from Planetoid's, kept in one file that opens at once."""
