"""Transcribing: what each sound says."""
