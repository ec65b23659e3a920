"""The files of `regard/page`, held in memory, so that no path of a request reaches the file system.

Each is served at its path in the folder, so that scripts import each other as they do there.
"""

import hashlib
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from string import Template

from starlette.requests import Request
from starlette.responses import Response

from regard.viewing.modules import PAGE, read_part
from regard.viewing.sealed import FRAME, data_block
from regard.viewing.texts import in_every_language, read_texts

INDEX, DOCS, JUDGE = "index.html", "docs.html", "judge.html"  # the pages, which contain all texts
CARD, COURSE = "card.html", "course.html"  # pages that have more to fill in
ONE_FILE = "onefile.html"  # the frame of pages that work without a server
_NOT_SENT = ("texts", "onefile", FRAME, ONE_FILE, CARD, COURSE)  # only parts of other files
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
    """A file as sent to a browser."""

    content: bytes
    kind: str
    tag: str

    def reply(self, request: Request) -> Response:
        """Answer a request for the file; a browser that has this version gets only its headers."""
        headers = {"ETag": self.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(None, 304, headers)
        return Response(self.content, 200, headers, self.kind)


def page_files() -> dict[str, PageFile]:
    """Read all files of the page, by their paths in its folder."""
    files: dict[str, PageFile] = {}
    for name, entry in _entries(PAGE):
        files[name] = _file(name, _with_texts(name) if name in (INDEX, DOCS, JUDGE) else entry.read_bytes())
    return files


def course_page(language: str) -> PageFile:
    """Return the page of the course's lessons in a language."""
    return _file(COURSE, _with_texts(COURSE, language=language))


def card_page(**parts: str) -> PageFile:
    """Return the page of a model card: its title, and its body and head as HTML."""
    return _file(CARD, _with_texts(CARD, **parts))


def _file(name: str, content: bytes) -> PageFile:
    return PageFile(content, _kind(name), f'"{hashlib.sha256(content).hexdigest()[:32]}"')


def _entries(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files of a folder and its subfolders, with their paths."""
    for entry in folder.iterdir():
        name = above + entry.name
        if name in _NOT_SENT or entry.name.startswith((".", "__")):
            continue
        if entry.is_dir():
            yield from _entries(entry, f"{name}/")
        else:
            yield name, entry


def _with_texts(name: str, **more: str) -> bytes:
    parts = {"texts": data_block(read_texts()), "noscript": in_every_language("noscript.desks")}
    return Template(read_part(name)).substitute(parts, **more).encode()


def _kind(name: str) -> str:
    suffix = f".{name.rpartition('.')[2].lower()}"
    return _KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
