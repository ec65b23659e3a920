"""Runs and model folders: open, train, validate, evaluate and compare them."""
