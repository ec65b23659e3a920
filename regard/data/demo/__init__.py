"""The English–Portuguese corpus of the demo, made by a grammar."""
