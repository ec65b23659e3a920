"""Networks that read text word by word, for a class of the whole text or a label for each of its words."""
