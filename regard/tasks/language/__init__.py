"""Language models: the probability of a text, and continuations of a prompt."""
