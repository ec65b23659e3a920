"""The texts of pages in every language that there are texts in; scripts fill their gaps (`page/texts.js`)."""

import json
from importlib import resources

LANGUAGES = ("en", "pt", "ru")  # the first is for whoever reads none of them
Texts = dict[str, str | dict[str, str]]  # by name; a text that depends on a number has a form for each kind of number


def read_texts(package: str) -> dict[str, Texts]:
    """The texts of the pages in a package, language by language."""
    folder = resources.files(package) / "page" / "texts"
    return {each: json.loads((folder / f"{each}.json").read_text(encoding="utf-8")) for each in LANGUAGES}


def in_every_language(texts: dict[str, Texts], name: str) -> str:
    """Paragraphs of HTML that say one thing in each language, for a page whose scripts may not run."""
    return "".join(f'<p lang="{language}">{table[name]}</p>' for language, table in texts.items())
