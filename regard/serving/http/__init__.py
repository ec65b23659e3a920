"""HTTP between clients and the application: connections, a guard, bodies, replies and refusals."""
