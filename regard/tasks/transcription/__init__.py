"""Speech recognition: a text for each sound."""
