"""Networks that read a story and a question, and look through the facts several times before answering."""
