"""Giving a tag to each word of a sentence: parts of speech, or the spans that tags spell."""
