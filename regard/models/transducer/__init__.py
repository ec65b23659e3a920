"""Transducers (Graves 2012): an encoder, a network that predicts from the labels so far, and a joint of both."""
