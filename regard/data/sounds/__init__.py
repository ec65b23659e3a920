"""Sounds: files of them at any rate, recordings kept ready for training, and strings that are made of recordings."""
