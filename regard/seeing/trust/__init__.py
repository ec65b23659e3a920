"""Trust in a map: its curves without its units, and its agreement with the units that are known to matter."""
