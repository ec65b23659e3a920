"""Translation: batches, training objectives, search and views."""
