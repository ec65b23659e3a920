"""One tag for each word: what is read of words beside their vectors, and how tags are chosen from states."""
