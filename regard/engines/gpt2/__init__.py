"""GPT-2 as Hugging Face has it: models read and written."""
