"""Verbs of a loaded model, each a function over what people type or send."""
