"""HTTP between clients and the application: connections, guard, bodies, replies and refusals."""
