"""Attention over the frames of a video, drawn as a strip of them for each word."""
