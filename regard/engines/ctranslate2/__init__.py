"""CTranslate2: export models to it, and translate with it."""
