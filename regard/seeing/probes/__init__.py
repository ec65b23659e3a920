"""Probes: what the states of a layer know about words, read off by linear classifiers."""
