"""Long sequences of numbers or symbols: drawn by seed, or the pixels of pictures one after another."""
