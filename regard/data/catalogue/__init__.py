"""Public data sets: which there are, under which licence, and how they come onto this machine."""
