"""Text for language models: plain lines, cut into tokens once and kept in files that open at once."""
