"""Text generation: continuing a prompt, and the probability of text."""
