"""Tagged sentences: read from files, divided into splits, and stored in arrays that open at once."""
