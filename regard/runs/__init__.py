"""Runs and model folders: opened, trained, validated, evaluated, compared."""
