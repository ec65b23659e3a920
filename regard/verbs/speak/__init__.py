"""Speaking: a sound for each text."""
