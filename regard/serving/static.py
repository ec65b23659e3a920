"""The files of the page, all in memory: a request names one of them or nothing, and no path reaches the file system."""

import hashlib
import mimetypes
from dataclasses import dataclass
from importlib import resources

# Packages and folders whose files a browser may get; all names differ.
FOLDERS = (("regard.serving", "page"), ("regard.viewing", "page"))
INDEX = "index.html"
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
                content = entry.read_bytes()
                found[entry.name] = PageFile(
                    content, _kind(entry.name), f'"{hashlib.sha256(content).hexdigest()[:32]}"'
                )
    return found


def _kind(name: str) -> str:
    suffix = f".{name.rpartition('.')[2].lower()}"
    return _KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
