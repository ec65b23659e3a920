"""Pictures with captions to paint from: digits by their names, and generated shapes."""
