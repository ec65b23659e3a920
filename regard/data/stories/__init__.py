"""Stories with questions about them: read from files in bAbI's format, and tokenised once."""
