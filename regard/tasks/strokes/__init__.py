"""Drawing with strokes: from nothing, continuing a drawing, and from one drawing to another."""
