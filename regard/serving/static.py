"""The files of `regard/page` in memory: a request names one of them or nothing, and no path reaches the file system.

A browser finds each at the path that it has in the folder, so that scripts import each other as they lie there.
"""

import hashlib
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from string import Template

from regard.viewing.modules import PAGE, read_part
from regard.viewing.sealed import FRAME, data_block
from regard.viewing.texts import in_every_language, read_texts

INDEX, DOCS = "index.html", "docs.html"  # the pages, which hold all texts
_NOT_SENT = ("texts", FRAME)  # parts of other files
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
    """A file as a browser receives it."""

    content: bytes
    kind: str
    tag: str


def page_files() -> dict[str, PageFile]:
    """Read all files of the page, by their paths in its folder."""
    files: dict[str, PageFile] = {}
    for name, entry in _entries(PAGE):
        content = _with_texts(name) if name in (INDEX, DOCS) else entry.read_bytes()
        files[name] = PageFile(content, _kind(name), f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return files


def _entries(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    """The files of a folder and of those in it, with their paths."""
    for entry in folder.iterdir():
        name = above + entry.name
        if name in _NOT_SENT or entry.name.startswith((".", "__")):
            continue
        if entry.is_dir():
            yield from _entries(entry, f"{name}/")
        else:
            yield name, entry


def _with_texts(name: str) -> bytes:
    parts = {"texts": data_block(read_texts()), "noscript": in_every_language("noscript.desks")}
    return Template(read_part(name)).substitute(parts).encode()


def _kind(name: str) -> str:
    suffix = f".{name.rpartition('.')[2].lower()}"
    return _KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
