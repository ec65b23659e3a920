"""BERT to and from Hugging Face folders, with the same weights, tokens and outputs."""
