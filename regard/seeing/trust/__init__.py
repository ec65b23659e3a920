"""How far to trust a map: what happens without its units, and whether it points at what is known to matter."""
