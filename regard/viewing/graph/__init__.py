"""A node and its neighbourhood: what it looks at along the edges of a graph."""
