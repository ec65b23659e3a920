"""Shared parts of verbs' requests: fields, rules for combining them, and their names in refusals."""
