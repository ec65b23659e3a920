"""The decoder-only Transformer: the network, its fused pass for training, and its steps on reserved caches."""
