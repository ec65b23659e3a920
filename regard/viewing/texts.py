"""The texts of pages in all languages; scripts fill in their placeholders (`page/parts/texts.js`)."""

import json
import re

from regard.viewing.modules import read_part

LANGUAGES = ("en", "pt", "ru")  # the first is the fallback
Texts = dict[str, str | dict[str, str]]  # by name; a text that depends on a number has a form for each plural category
_NAME = re.compile(r'["`](\w+)\.')
_LOOKED_UP = re.compile(r'inPageLanguage\([\w.]+, "(\w+)"\)')  # groups in which it looks up English sentences


def read_texts() -> dict[str, Texts]:
    """Read the texts of all pages, language by language."""
    return {language: json.loads(read_part(f"texts/{language}.json")) for language in LANGUAGES}


def texts_of(script: str) -> dict[str, Texts]:
    """Read the texts that a script can use: those of every group (the name before the dot) that it mentions."""
    groups = {*_NAME.findall(script), *_LOOKED_UP.findall(script)}
    return {
        language: {name: text for name, text in texts.items() if name.partition(".")[0] in groups}
        for language, texts in read_texts().items()
    }


def in_every_language(name: str) -> str:
    """Return HTML paragraphs with one text in each language, for a page whose scripts may not run."""
    return "".join(f'<p lang="{language}">{texts[name]}</p>' for language, texts in read_texts().items())
