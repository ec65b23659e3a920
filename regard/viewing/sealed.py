"""One HTML file that is complete in itself, works offline and lets nothing in.

Its policy allows the very style and script it was made with, by their checksums, and nothing else: no request, no other
script, no markup made from text. What it shows goes along as JSON in which no character has a meaning to HTML, and its
script writes words as text alone.
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
STEPS = 10_000  # of a weight of 1
_UNNAMED = ("", "src", "tgt")  # what languages are called when nobody has named them
# Characters that could end the element the data stands in, or a line of script; in JSON they have other spellings.
_SPELLED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class SealedPage:
    """The page that a script of `page/views` draws of the data, with these files of `page/styles`."""

    script: str
    styles: Sequence[str]
    data: Any

    @property
    def html(self) -> str:
        """The whole page as text."""
        return seal(self.script, self.styles, self.data)

    def write(self, path: Path) -> None:
        """Write it to a file; what is not called .html is refused."""
        if path.suffix.lower() != ".html":
            raise Fault(f"{path} does not end in .html, which is what a page is.")
        write_file(path, self.html.encode())


def seal(entry: str, styles: Sequence[str], data: Any) -> str:
    """The text of such a page."""
    style = "\n".join(read_part(f"styles/{name}") for name in styles)
    script = join_modules(f"views/{entry}")
    policy = (
        f"default-src 'none'; style-src {_checksum(style)}; script-src {_checksum(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    texts = data_block(texts_of(script))
    parts = {"policy": policy, "style": style, "script": script, "data": data_block(data), "texts": texts}
    return Template(read_part(FRAME)).substitute(parts, noscript=in_every_language("noscript.page"))


def whole_steps(weights: np.ndarray) -> list[int]:
    """Weights as pages have them: whole ten-thousandths, row after row."""
    return np.rint(weights * STEPS).astype(int).ravel().tolist()


def _checksum(text: str) -> str:
    """Return the hash by which a policy names an inline part (CSP 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def data_block(value: Any) -> str:
    """JSON that is the same to a reader of JSON and plain text to a reader of HTML."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False).translate(_SPELLED)


def named_language(language: str) -> str:
    """A language as a page may claim it; none where nobody has named it."""
    return "" if language in _UNNAMED else language
