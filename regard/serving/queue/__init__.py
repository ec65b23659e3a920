"""The thread that owns a model, and in which order it works on what several requests ask of it."""
