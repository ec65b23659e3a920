"""Drawing: pictures and strokes of a model's own."""
