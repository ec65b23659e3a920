"""Networks that draw: a causal Transformer or recurrent layers over moves or tokens, and a density for moves."""
