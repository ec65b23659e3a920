"""Training pairs from texts of one language, whose other side a model writes."""
