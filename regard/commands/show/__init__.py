"""`regard show`: views that teach."""
