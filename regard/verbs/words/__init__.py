"""What word vectors can be asked for: neighbours of a word, analogies, and how good the vectors are. No torch."""
