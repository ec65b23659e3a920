"""Transcribing speech."""
