"""Filter sentence pairs by scores: of translators, language models, languages and sentence vectors."""
