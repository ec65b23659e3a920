"""Word vectors: held in memory, and read and written in the formats of other tools."""
