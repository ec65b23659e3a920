"""`regard card`: a model card as Markdown, made of what a model folder knows and of nothing else."""
