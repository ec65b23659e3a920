"""Translating a large file with several processes, on one machine or many, in shards that survive a crash."""
