"""Captions of pictures: batches of features and words, training objectives, and views."""
