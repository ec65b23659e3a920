"""The thread that owns a model, and the order in which it works on requests."""
