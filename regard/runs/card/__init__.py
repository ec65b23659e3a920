"""Model cards in Markdown, written only from what a model folder records."""
