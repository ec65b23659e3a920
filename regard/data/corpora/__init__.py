"""Text files made into a corpus that opens at once: read, cleaned, cut, kept in shards, put into batches."""
