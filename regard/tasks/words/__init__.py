"""Word vectors: learning them from text, and measuring them."""
