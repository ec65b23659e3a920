"""Promises about every family, checked on a toy: by the tests, and by `regard check-family` for plugins."""
