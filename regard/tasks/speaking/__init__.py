"""Speech synthesis: from a text and a speaker to a sound."""
