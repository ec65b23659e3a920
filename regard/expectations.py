"""About how good a run will be, from what has been measured: each figure is in docs/ledger.md with its command."""

from dataclasses import dataclass

ALIKE = 3.0  # times as many pairs, or as few, say something about a run


@dataclass(frozen=True)
class Measured:
    """What runs to the end reached, from the lowest to the highest."""

    pairs: int
    low: float
    high: float
    text: str


BLEU = (
    Measured(5_000, 20.9, 23.2, "5,000 captions"),  # two-file defaults: on two ARM cores, and on a GPU
    Measured(29_000, 38.0, 42.6, "29,000 captions"),  # two-file defaults: those of a CPU, and those of a GPU
    Measured(226_000, 51.7, 51.8, "226,000 short sentences"),  # tatoeba-en-pt, which is the two-file defaults of a GPU
)
EXACT = (Measured(108_952, 75.8, 77.1, "109,000 words and their phonemes"),)  # cmudict-g2p and its Transformer


def expectation(pairs: int, spelled: bool) -> str:
    """A cautious sentence; none where nothing of about this size has been measured."""
    near = min(EXACT if spelled else BLEU, key=lambda each: _times(each.pairs, pairs))
    if _times(near.pairs, pairs) > ALIKE:
        return ""
    reached = " to ".join(dict.fromkeys(f"{value:.0f}" for value in (near.low, near.high)))
    measure = "% exact" if spelled else "BLEU"
    return f"Runs to the end on {near.text} reached about {reached} {measure}; other text may give more or less."


def _times(one: int, other: int) -> float:
    return max(one, other) / max(1, min(one, other))
