"""Speaking: from a text, and who is to speak it, to a sound."""
