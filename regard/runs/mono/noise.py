"""Noise in sources that a model wrote (Edunov et al. 2018): dropped, blanked and shuffled words."""

import numpy as np

DROPPED = 0.1  # share of the words
BLANKED = 0.1
BLANK = "_"
REACH = 3  # a word moves fewer places than this


def add_noise(text: str, seed: int, line: int) -> str:
    """Return a text with dropped, blanked and shuffled words, the same for the same seed and line.

    A text of one word stays unchanged, and at least one word is kept.
    """
    words = text.split()
    if len(words) < 2:
        return text
    bits = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, line])))
    kept = bits.random(len(words)) >= DROPPED
    if not kept.any():
        kept[int(bits.integers(len(words)))] = True
    blank = bits.random(len(words)) < BLANKED
    order = np.argsort(np.arange(len(words)) + bits.random(len(words)) * REACH, kind="stable")
    return " ".join(BLANK if blank[place] else words[place] for place in order.tolist() if kept[place])
