"""Parse JSON and TOML from untrusted files: with limited size and depth, and a fault where Python raises other errors.

Python's parsers are good but not safe for untrusted input: both raise RecursionError on deeply nested tables and
ValueError on a number of more than 4,300 digits, and a key of n dotted parts takes n² time.
"""

import json
import re
import tomllib
from typing import Any

from regard.base.faults import Fault

MOST_BYTES = 2**20  # for a recipe, a manifest, scores
MOST_LISTED = 2**26  # for a vocabulary; one with a million pieces has half of that
_PART, _ENTRY = 64, 100  # bytes of a small Python object, and of its entry in a table
_FREE_MEMORY, _TIMES_MEMORY = 150_000_000, 4  # bytes allowed for any text, and for each of its bytes
_DEEPEST = 32  # nested tables, and parts of a dotted key
_LONGEST_WORD = 128  # characters of a number or a bare key

# A string or a comment, in which anything is allowed; an unterminated one is invalid TOML, and is scanned only once.
_QUOTED = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*"?''' r"""|'''.*?(?:'''|\Z)|'[^'\n]*'?|#[^\n]*""",
    re.DOTALL,
)
_LONG_WORD = re.compile(rf"[\w+-]{{{_LONGEST_WORD + 1},}}")


def parse_json(content: bytes, name: str, most: int = MOST_BYTES) -> Any:
    """Parse JSON; `name` says where it comes from. Constants that are not JSON, such as NaN, are refused."""
    check_json_size(content, name, most)
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Fault(f"{name} is damaged: it is not JSON.") from None


def check_json_size(content: bytes, name: str, most: int = MOST_BYTES) -> None:
    """Refuse JSON that is too large, or whose parts would take far more memory than the text."""
    _check_size(len(content), name, most)
    parts = sum(content.count(sign) for sign in (b",", b"[", b"{"))
    if parts * _PART + content.count(b":") * _ENTRY > _FREE_MEMORY + _TIMES_MEMORY * len(content):
        raise Fault(f"{name} has {parts:,} parts, which is too many for such a file.")


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse TOML; `name` says where it comes from."""
    _check_size(len(text), name, MOST_BYTES)
    bare = _QUOTED.sub('""', text)
    if _LONG_WORD.search(bare):
        raise Fault(f"{name} has a number or a name of more than {_LONGEST_WORD} characters.")
    if max(_depth(bare), *(part.count(".") for part in re.split(r"[\n=,\[\]{}]", bare))) > _DEEPEST:
        raise Fault(f"{name} is nested more than {_DEEPEST} deep.")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Fault(f"{name} is not valid TOML: {error}.") from None


def _check_size(size: int, name: str, most: int) -> None:
    if size > most:
        raise Fault(f"{name} has {size:,} characters, which is too large for such a file.")


def _depth(text: str) -> int:
    """Return how deep brackets are nested."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
