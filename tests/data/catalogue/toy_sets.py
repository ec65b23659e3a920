"""Toy data sets for tests: a catalogue of one set, and a loopback server that misbehaves in every way."""

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.data.catalogue.entries import Entry, read_entries

TEXT = "".join(f"{number} livros\n" for number in range(60_000)).encode()  # 768,890 bytes, several reads long


@dataclass
class Server:
    """State of the server: its files, its misbehaviour, and the requests it received."""

    content: dict[str, bytes] = field(default_factory=dict)
    knows_ranges: bool = True
    cut_after: list[int] = field(default_factory=list)  # bytes after which the next answers break off
    status: int | None = None
    redirect: str | None = None
    lies_about_range: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""


def handler_of(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wish = self.headers.get("Range")
            server.asked.append((self.path, wish))
            content = server.content.get(self.path)
            if server.redirect not in (None, self.path):
                self.answer(302, b"", {"Location": server.redirect})
            elif server.status or content is None:
                self.answer(server.status or 404, b"sorry", {})
            elif wish and server.knows_ranges:
                self.answer_range(content, int(wish.removeprefix("bytes=").removesuffix("-")))
            else:
                self.answer(200, content, {})

        def answer_range(self, content: bytes, start: int) -> None:
            if start >= len(content):
                self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            first = 0 if server.lies_about_range else start
            span = f"bytes {first}-{len(content) - 1}/{len(content)}"
            self.answer(206, content[start:], {"Content-Range": span})

        def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: server.cut_after.pop(0)] if server.cut_after else body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Log nothing."""

    return Handler


@contextmanager
def serving(state: Server) -> Iterator[Server]:
    """Run a server on a free port of this machine until the end of the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler_of(state)) as listening:
        state.address = f"http://127.0.0.1:{listening.server_port}"
        thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            listening.shutdown()
            thread.join()


def catalogue_of(monkeypatch: pytest.MonkeyPatch, *files: dict[str, Any]) -> Entry:
    """Declare a set called `toy` of these files as the only one in the catalogue."""
    about = {"title": "Toy", "what": "a toy", "licence": "CC0", "terms": "Do.", "source": "https://toys.example"}
    catalogue = read_entries({"toy": {**about, "aliases": ["playthings"], "files": list(files)}})
    monkeypatch.setattr("regard.data.catalogue.entries.entries", lambda: catalogue)
    return catalogue["toy"]


def a_file(path: str, content: bytes, **more: Any) -> dict[str, Any]:
    return {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), **more}


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.name != ".regard.json"}


def archive_of(*members: tuple[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def sounds_file(**more: Any) -> dict[str, Any]:
    line = f"{hashlib.sha256(b'beep').hexdigest()}  one.wav\n"
    checksum = hashlib.sha256(line.encode()).hexdigest()
    return {"path": "sounds", "folder": True, "size": 4, "sha256": checksum, **more}


def fault_of(call: Callable[[], object]) -> str:
    with pytest.raises(Fault) as fault:
        call()
    (sentence,) = fault.value.sentences
    return sentence
