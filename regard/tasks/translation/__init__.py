"""Translation: its batches, what it minimises, and how it is searched and looked at."""
