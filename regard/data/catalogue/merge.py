"""Sets that are made of public files: pairs of sentences joined, each once, and none that a test could know."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.catalogue.unpack import open_content

Pair = tuple[bytes, bytes]


def join_pairs(parts: Sequence[Path], unseen_in: Path | None, target: Path) -> None:
    """Write the pairs of `parts` one after another as two columns, each pair where it first occurs.

    A part has four columns: two languages, then a sentence in each. A pair is left out when its first sentence is a
    first sentence of `unseen_in` or its second a second one, byte for byte.
    """
    hidden = list(_pairs(unseen_in)) if unseen_in else []
    first_hidden, second_hidden = {first for first, _ in hidden}, {second for _, second in hidden}
    seen: set[Pair] = set()
    with target.open("wb") as file:
        for pair in (pair for part in parts for pair in _pairs(part)):
            if pair not in seen and pair[0] not in first_hidden and pair[1] not in second_hidden:
                seen.add(pair)
                file.write(b"\t".join(pair) + b"\n")


def _pairs(path: Path) -> Iterator[Pair]:
    with open_content(path) as lines:
        for line in lines:
            _, _, first, second = line.rstrip(b"\n").split(b"\t")
            yield first, second
