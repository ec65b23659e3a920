"""Language models: how probable a text is, and how a prompt may go on."""
