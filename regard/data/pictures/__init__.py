"""Labelled pictures: their files, scenes made from them, and preparation for training."""
