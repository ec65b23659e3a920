"""LibreTranslate's API, so that its clients work unchanged."""
