"""Captions of pictures: batches of features and words, what is minimised, what people see."""
