"""Weights of the frames of a sound, under its waveform."""
