"""Nodes of a graph: a class for each, learnt from the few whose labels are known."""
