"""A large file translated by several processes, on one machine or on many, in shards that outlive them."""
