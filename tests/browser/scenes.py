"""Example pages: small ones with numbers that can be checked by hand, and words of many kinds."""

from collections.abc import Sequence

import numpy as np

from regard.viewing.page import PageScene, Start
from regard.viewing.seen import Block, Seen

SOURCE = ["I", "see", "the", "red", "house", "."]
TARGET = ["Eu", "vejo", "a", "casa", "vermelha", "."]
CROSSING = [0, 1, 2, 4, 3, 5]
ARABIC = ["أرى", "البيت", "الأحمر", "."]
HEBREW = ["אני", "רואה", "בית", "."]
LONG = ["Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz", *["palavra"] * 60]
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "&lt;b&gt;",
    "\"'`",
    "a\u2028b",
]


def pointing(places: Sequence[int], columns: int, strength: float) -> np.ndarray:
    """Return rows that attend to their own place with this strength, and evenly to all others."""
    weights = np.full((len(places), columns), (1 - strength) / max(columns - 1, 1))
    weights[range(len(places)), places] = strength
    return weights


def scene(
    source: list[str] = SOURCE, target: list[str] = TARGET, languages: tuple[str, str] = ("en", "pt")
) -> PageScene:
    """Return a translator of two blocks of two heads a side that differ in where and how strongly they attend."""
    looks = {"cross": (target, source), "encoder": (source, source), "decoder": (target, target)}
    seen = [_side(name, rows, columns) for name, (rows, columns) in looks.items()]
    tokens = [_side("cross", [f"▁{word}" for word in target], source)]
    return PageScene(" ".join(source), " ".join(target), seen, tokens, languages)


def _side(name: str, rows: list[str], columns: list[str]) -> Seen:
    straight = [place % len(columns) for place in range(len(rows))]
    crossed = [CROSSING[place] % len(columns) if place < len(CROSSING) else place % len(columns) for place in straight]
    blocks = [
        Block(
            f"{name}.{number}.look",
            np.stack([pointing(crossed, len(columns), 0.9 - number / 10), pointing(straight, len(columns), 0.5)]),
        )
        for number in range(2)
    ]
    return Seen(name, " ".join(rows), rows, columns, blocks)


def recurrent() -> PageScene:
    """Return one attention of one head."""
    look = Block("decoder.look", pointing(CROSSING, len(SOURCE), 0.9)[None])
    return PageScene(
        "I see", "Eu vejo", [Seen("cross", "", TARGET, SOURCE, [look])], start=Start("encoder", 3, 4, "tokens")
    )
