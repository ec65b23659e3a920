"""Answering questions about stories."""
