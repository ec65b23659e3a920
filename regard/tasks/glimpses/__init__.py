"""Picture classification, from glimpses or from the whole picture."""
