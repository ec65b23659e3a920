"""A map of words in the plane: as a picture, as a page to pan and zoom, as numbers."""
