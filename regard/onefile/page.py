"""A page with its model: everything in one HTML file, which works from disk in any browser.

Its policy allows only its own style and scripts, by their checksums, and WebAssembly; no request leaves it. Binary
parts are deflated and written in base64, and the page inflates them.
"""

import base64
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.onefile.runtime import Runtime
from regard.viewing.modules import join_modules, read_part
from regard.viewing.sealed import data_block, policy_checksum
from regard.viewing.texts import in_every_language, texts_of

FRAME = "onefile.html"
MOST_BYTES = 200_000_000  # of a file; browsers take minutes to open more, or refuse
_EFFORT = 9  # of deflate
_PARTS = "\0"  # where the parts go; nothing else in a page is this character
_COMMON = ("page.css", "serve.css", "onefile.css")


class Desk(NamedTuple):
    """The desk of a page: its markup and its script in `regard/page`, and its styles."""

    markup: str
    script: str
    styles: tuple[str, ...]


DESKS = {
    "translate": Desk("onefile/translate.html", "onefile/page.js", (*_COMMON, "tree.css")),
    "answer": Desk("onefile/answer.html", "onefile/answering-page.js", (*_COMMON, "tags.css", "next.css")),
    "write": Desk("onefile/write.html", "onefile/writing-page.js", (*_COMMON, "write.css", "next.css")),
}


def write_page(place: Path, desk: Desk, data: Any, parts: Mapping[str, bytes], runtime: Runtime) -> int:
    """Write the page of a desk to an .html file and return its size; `parts` are its binary files by name.

    Refuse a page that is too large for browsers.
    """
    blocks = [_block(name, content) for name, content in {**parts, "runtime.wasm": runtime.wasm}.items()]
    head, _, tail = _frame(desk, data, runtime).partition(_PARTS.encode())
    size = len(head) + sum(map(len, blocks)) + len(tail)
    if size > MOST_BYTES:
        raise Fault(
            f"The page would be {size / 1e6:,.0f} MB large, but browsers open at most {MOST_BYTES / 1e6:,.0f} MB from "
            "disk; export a smaller model, or serve this one."
        )
    with whole_file(place) as file:
        file.writelines([head, *blocks, tail])
    return size


def _block(name: str, content: bytes) -> bytes:
    packed = base64.b64encode(zlib.compress(content, _EFFORT))
    return f'<script type="text/plain" class="part" data-name="{name}">'.encode() + packed + b"</script>\n"


def _frame(desk: Desk, data: Any, runtime: Runtime) -> bytes:
    style = "\n".join(read_part(f"styles/{name}") for name in desk.styles)
    script, markup = join_modules(desk.script), read_part(desk.markup)
    policy = (
        f"default-src 'none'; style-src {policy_checksum(style)}; img-src data:; "
        f"script-src {_sources([runtime.script, script])} 'wasm-unsafe-eval'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    filled = {"policy": policy, "style": style, "script": script, "runtime": runtime.script, "parts": _PARTS}
    blocks = {"desk": markup, "data": data_block(data), "texts": data_block(texts_of(script + markup))}
    return Template(read_part(FRAME)).substitute(filled, **blocks, noscript=in_every_language("noscript.page")).encode()


def _sources(scripts: Iterable[str]) -> str:
    return " ".join(map(policy_checksum, scripts))
