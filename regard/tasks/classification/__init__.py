"""Classes of texts: one for each, or one for what a text says of an aspect of it."""
