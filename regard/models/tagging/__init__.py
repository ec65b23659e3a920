"""One tag per word: inputs besides word vectors, and how tags are chosen from states."""
