"""Drawing with strokes: from nothing, from what was begun, and from one drawing to another."""
