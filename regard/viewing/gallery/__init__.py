"""Captions that a model wrote, the best and the worst of them beside what people wrote."""
