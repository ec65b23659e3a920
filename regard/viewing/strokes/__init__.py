"""What the points of a drawing look at among the points before them, drawn as its strokes."""
