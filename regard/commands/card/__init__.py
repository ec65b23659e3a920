"""`regard card`: a model card in Markdown, written only from what the model folder records."""
