"""Folders as Hugging Face's transformers has them, whatever model they hold: tables and weights, read and written."""
