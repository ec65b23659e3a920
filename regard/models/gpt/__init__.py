"""The decoder-only Transformer: its network, its fused training pass, and its steps on reserved caches."""
