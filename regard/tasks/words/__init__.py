"""Word vectors: how they are learnt from text, and how good they are."""
