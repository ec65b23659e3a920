"""From a model to what can be drawn: gazes, heads, next tokens, lessons."""
