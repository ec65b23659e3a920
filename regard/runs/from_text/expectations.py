"""Expected scores of a run, from measured runs; docs/ledger.md has each figure with its command."""

from dataclasses import dataclass

ALIKE = 3.0  # a run with up to this many times more or fewer pairs counts as similar


@dataclass(frozen=True)
class Measured:
    """Range of scores that finished runs reached."""

    pairs: int
    low: float
    high: float
    text: str


BLEU = (
    Measured(5_000, 20.9, 23.2, "5,000 captions"),  # two-file defaults: on two ARM cores, and on a GPU
    Measured(29_000, 38.0, 42.6, "29,000 captions"),  # two-file defaults: those of a CPU, and those of a GPU
    Measured(226_000, 51.7, 51.8, "226,000 short sentences"),  # tatoeba-en-pt, which is the GPU's two-file defaults
)
EXACT = (Measured(108_952, 75.8, 77.1, "109,000 words and their phonemes"),)  # cmudict-g2p and its Transformer


@dataclass(frozen=True)
class Brief:
    """Score of a run that was planned for a few minutes on two cores."""

    pairs: int
    tokens: int  # learnt from, including padding
    bleu: float


BRIEF = (
    Brief(5_000, 2_090 * 1024, 19.3),
    Brief(5_000, 4_213 * 1024, 20.2),
    Brief(29_000, 1_544 * 1024, 27.9),
    Brief(29_000, 3_694 * 1024, 35.7),
)
AS_LONG = 1.6  # a brief run with up to this many times more or fewer tokens counts as similar


def brief_expectation(pairs: int, tokens: int) -> str:
    """Return the expected score of a run on `pairs` that is planned for `tokens`."""
    alike = [run for run in BRIEF if _times(run.pairs, pairs) <= ALIKE and _times(run.tokens, tokens) <= AS_LONG]
    if not alike:
        return ""
    near = min(alike, key=lambda run: _times(run.pairs, pairs) * _times(run.tokens, tokens))
    return f"A run of this length on {near.pairs:,} captions reached about {near.bleu:.0f} BLEU; other text may differ."


def expectation(pairs: int, spelled: bool) -> str:
    """Return a cautious expectation, or an empty text if no run of similar size was measured."""
    near = min(EXACT if spelled else BLEU, key=lambda run: _times(run.pairs, pairs))
    if _times(near.pairs, pairs) > ALIKE:
        return ""
    reached = " to ".join(dict.fromkeys(f"{value:.0f}" for value in (near.low, near.high)))
    measure = "% exact" if spelled else "BLEU"
    return f"Finished runs on {near.text} reached about {reached} {measure}; other text may give more or less."


def _times(one: int, other: int) -> float:
    return max(one, other) / max(1, min(one, other))
