"""CTranslate2: models written for it, and translating with it."""
