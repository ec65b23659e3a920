"""Markdown of lessons in other places: links to documents as they are written there."""

import re
from collections.abc import Callable

_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)(#[\w-]+)?\)")


def without_links(markdown: str) -> str:
    """Return the text with the names of documents in place of links to them, for where they cannot be followed."""
    return _LINK.sub(lambda link: f"{link[1]} (`docs/{link[2]}`)", markdown)


def with_links(markdown: str, address: Callable[[str], str]) -> str:
    """Return the text with links that lead where `address` says a document is."""
    return _LINK.sub(lambda link: f"[{link[1]}]({address(link[2])}{link[3] or ''})", markdown)
