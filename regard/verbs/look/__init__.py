"""Looking inside a model: attention, next token and beam."""
