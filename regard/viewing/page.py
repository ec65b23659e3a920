"""All that a model looked at as one HTML page: complete in itself, offline, in any browser.

The page is put together from the files in the folder `page`. Its policy allows the very style and script it was
made with, by their checksums, and nothing else: no request, no other script, no markup made from text. What was seen
goes along as JSON in which no character has a meaning to HTML, and the script writes words as text alone.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Literal

import numpy as np

from regard.faults import Fault
from regard.files import write_file
from regard.viewing.canvas import shown
from regard.viewing.matrix import entropy
from regard.viewing.seen import Joining, Seen

SCRIPTS = ("state.js", "lines.js", "matrix.js", "sheet.js", "page.js")  # one module, in this order
MOST_WEIGHTS = 4_000_000  # of all matrices together; such a page has about ten megabytes
_STEPS = 10_000  # weights are written as whole ten-thousandths
_UNNAMED = ("", "src", "tgt")  # what languages are called when nobody has named them
# Characters that could end the element the data stands in, or a line of script; in JSON they have other spellings.
_SPELLED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Start:
    """What a page shows first; a part that the page does not have is passed over."""

    side: str = "cross"
    layer: int | None = None
    head: int | Joining = "mean"
    mode: Literal["words", "tokens"] = "words"


@dataclass(frozen=True)
class Scene:
    """One pair of texts and all that was looked at between them, side by side, in words and perhaps in tokens."""

    source: str
    target: str
    words: Sequence[Seen]
    tokens: Sequence[Seen] = ()
    languages: tuple[str, str] = ("", "")  # of source and target, so that a browser shapes and reads them right
    start: Start = field(default_factory=Start)


def fits(seen: Sequence[Seen]) -> bool:
    """Whether so much can go into one page."""
    return _count(seen) <= MOST_WEIGHTS


def write_page(scene: Scene, path: Path) -> None:
    """Write the page to a file; refuse what no browser would show with pleasure."""
    if path.suffix.lower() != ".html":
        raise Fault(f"{path} does not end in .html, which is what a page is.")
    every = [*scene.words, *scene.tokens]
    if not fits(every):
        raise Fault(
            f"A page of these sentences would hold {_count(every):,} weights, and {MOST_WEIGHTS:,} are the most; "
            "give shorter sentences, or draw one block as a .png."
        )
    write_file(path, page_of(scene).encode())


def page_of(scene: Scene) -> str:
    """The whole page."""
    folder = resources.files("regard.viewing") / "page"
    frame, style, *scripts = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", *SCRIPTS)
    )
    script = "\n".join(scripts)
    policy = (
        f"default-src 'none'; style-src {_checksum(style)}; script-src {_checksum(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return Template(frame).substitute(policy=policy, style=style, script=script, data=_escaped(_data(scene)))


def _checksum(text: str) -> str:
    """How a policy names an inline part by its content (CSP 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _escaped(value: Any) -> str:
    """JSON that is the same to a reader of JSON and plain text to a reader of HTML."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).translate(_SPELLED)


def _data(scene: Scene) -> dict[str, Any]:
    source, target = ("" if language in _UNNAMED else language for language in scene.languages)
    modes = {"words": scene.words, "tokens": scene.tokens}
    return {
        "source": {"text": shown(scene.source), "language": source},
        "target": {"text": shown(scene.target), "language": target},
        "start": vars(scene.start),
        "modes": {mode: {each.side: _side(each) for each in seen} for mode, seen in modes.items() if seen},
    }


def _side(seen: Seen) -> dict[str, Any]:
    return {
        "rows": [shown(word) for word in seen.rows],
        "columns": [shown(word) for word in seen.columns],
        "usual": seen.usual,
        "blocks": [
            {
                "where": block.where,
                "heads": [np.rint(head * _STEPS).astype(int).ravel().tolist() for head in block.weights],
                "entropy": [round(entropy(head), 3) for head in block.weights],
            }
            for block in seen.blocks
        ],
    }


def _count(seen: Sequence[Seen]) -> int:
    return sum(block.weights.size for each in seen for block in each.blocks)
