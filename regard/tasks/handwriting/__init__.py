"""Reading lines of handwriting, sign by sign."""
