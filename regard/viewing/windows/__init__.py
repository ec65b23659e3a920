"""Glimpses of a picture: the windows through which a model looked, and what it saw there."""
