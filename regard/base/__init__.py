"""Modules that all others may import: faults, files, recipes, progress and processes. Nothing here loads torch."""
