"""Text classification: one class per text, or one for what a text says about an aspect."""
