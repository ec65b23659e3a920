"""A self-contained HTML file that works offline and lets nothing in.

Its policy allows only its own style and script, by their checksums: no request, no other script, no markup made from
text. The data is embedded as JSON in which no character has a meaning in HTML, and the script inserts words only as
text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.viewing.modules import join_modules, read_part
from regard.viewing.texts import in_every_language, texts_of

FRAME = "sealed.html"
STEPS = 10_000  # steps of a weight of 1
_UNNAMED = ("", "src", "tgt")  # placeholders for unnamed languages
# Characters that could end the element around the data, or a line of script; JSON can escape them.
_SPELLED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class SealedPage:
    """A page that a script of `page/views` draws from data, with these files of `page/styles`."""

    script: str
    styles: Sequence[str]
    data: Any

    @property
    def html(self) -> str:
        """The whole page as text."""
        return seal(self.script, self.styles, self.data)

    def write(self, path: Path) -> None:
        """Write it to an .html file; refuse another suffix."""
        if path.suffix.lower() != ".html":
            raise Fault(f"A page is an .html file, and {path} does not end in .html.")
        write_file(path, self.html.encode())


def seal(entry: str, styles: Sequence[str], data: Any) -> str:
    """Return the text of such a page."""
    style = "\n".join(read_part(f"styles/{name}") for name in styles)
    script = join_modules(f"views/{entry}")
    policy = (
        f"default-src 'none'; style-src {policy_checksum(style)}; script-src {policy_checksum(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    texts = data_block(texts_of(script))
    parts = {"policy": policy, "style": style, "script": script, "data": data_block(data), "texts": texts}
    return Template(read_part(FRAME)).substitute(parts, noscript=in_every_language("noscript.page"))


def whole_steps(weights: np.ndarray) -> list[int]:
    """Return weights for pages: whole ten-thousandths, row by row."""
    return np.rint(weights * STEPS).astype(int).ravel().tolist()


def policy_checksum(text: str) -> str:
    """Return the hash that allows an inline part in a policy (CSP 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def data_block(value: Any) -> str:
    """Return JSON in which no character has a meaning in HTML."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False).translate(_SPELLED)


def named_language(language: str) -> str:
    """Return the language for a page, or "" if it is unnamed."""
    return "" if language in _UNNAMED else language
