"""From a model to what can be drawn: attention, heads, next tokens and lessons."""
