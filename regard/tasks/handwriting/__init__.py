"""Reading lines of handwriting, sign after sign."""
