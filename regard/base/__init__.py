"""Imports allowed everywhere: faults, files, recipes, progress and processes. Nothing here loads torch."""
