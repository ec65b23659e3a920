"""The files of the page, all in memory: a request names one of them or nothing, and no path reaches the file system."""

import hashlib
import mimetypes
from dataclasses import dataclass
from importlib import resources
from string import Template

from regard.viewing.sealed import data_block
from regard.viewing.texts import Texts, in_every_language, read_texts

# Packages and folders whose files a browser may get; all names differ.
FOLDERS = (("regard.serving", "page"), ("regard.viewing", "page"))
INDEX, DOCS = "index.html", "docs.html"  # the pages, which hold all texts
_KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class PageFile:
    """What a browser gets."""

    content: bytes
    kind: str
    tag: str


def page_files() -> dict[str, PageFile]:
    """All files of the page by their names."""
    found: dict[str, PageFile] = {}
    for package, folder in FOLDERS:
        place = resources.files(package) / folder
        for entry in place.iterdir() if place.is_dir() else ():
            if entry.is_file() and not entry.name.startswith((".", "__")):
                content = _with_texts(entry.read_text("utf-8")) if entry.name in (INDEX, DOCS) else entry.read_bytes()
                found[entry.name] = PageFile(
                    content, _kind(entry.name), f'"{hashlib.sha256(content).hexdigest()[:32]}"'
                )
    return found


def page_texts() -> dict[str, Texts]:
    """All that the page says, of its own and in the views that it shares with files, language by language."""
    views, own = (read_texts(package) for package, _ in reversed(FOLDERS))
    return {language: views[language] | own[language] for language in own}


def _with_texts(index: str) -> bytes:
    texts = page_texts()
    noscript = in_every_language(texts, "noscript.desks")
    return Template(index).substitute(texts=data_block(texts), noscript=noscript).encode()


def _kind(name: str) -> str:
    suffix = f".{name.rpartition('.')[2].lower()}"
    return _KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
