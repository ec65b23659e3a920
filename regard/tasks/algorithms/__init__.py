"""Small algorithms that machines with a memory learn: copying, recalling, sorting."""
