"""Tokenisers: text to tokens and back."""
