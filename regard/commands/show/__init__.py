"""`regard show`: lessons."""
