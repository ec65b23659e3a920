"""GPT-2 in Hugging Face's format: import and export."""
