"""Text for language models: plain lines, tokenised once and stored in files that open at once."""
