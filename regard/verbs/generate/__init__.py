"""What a language model is asked for: text that goes on with a prompt, and how probable text is."""
