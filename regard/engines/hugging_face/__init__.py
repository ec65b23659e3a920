"""Folders in the format of Hugging Face's transformers: read and write tables and weights of any model."""
