"""Classification of drawings by their strokes."""
