"""Small algorithms for networks with a memory to learn: copying, recalling, sorting."""
