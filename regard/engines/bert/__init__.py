"""BERT to and from Hugging Face's folders: the same weights, tokens and outputs."""
