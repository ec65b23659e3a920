"""Sounds: files at any rate, recordings prepared for training, and strings made from recordings."""
