"""Stories with questions about them: read from files as those of bAbI are, and cut into words once."""
