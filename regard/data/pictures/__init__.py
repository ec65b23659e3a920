"""Labelled pictures: where they come from, scenes made of them, and how they are kept ready for training."""
