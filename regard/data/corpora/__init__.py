"""Prepare text files as a corpus that opens at once: read, clean, tokenise, store in shards, make batches."""
