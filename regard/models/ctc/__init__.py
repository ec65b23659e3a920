"""Connectionist temporal classification (Graves et al. 2006): networks that label frames, and sums over their paths."""
