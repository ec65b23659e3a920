"""Text of WMT's lengths and vocabulary without WMT: random words of two invented languages, as many as asked for.

Sentences have 26 words on average, log-normally many (English to German of 2014 has 25.7 and 24.5), words are drawn by
Zipf's law from 200,000 a language and spelled by random letters, and one line in fifty is one of 2,000 that recur, as
boilerplate does on the web. Nobody can learn to translate it, but it takes the time and the memory of real text.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

WORDS = 200_000
MEAN_WORDS, SPREAD, LONGEST = 26, 0.6, 200
RECURRING, SHARE = 2_000, 0.02
STEEPNESS = 1.15  # of Zipf's law, for about as many subwords a word as real text has
PIECE = 50_000  # pairs that are drawn in one go
LETTERS = np.frombuffer(b"etaoinshrdlucmfwypvbgkqjxz", np.uint8)


def write_pairs(folder: Path, pairs: int, processes: int = 1) -> tuple[Path, Path]:
    """Two files of parallel lines; those of a smaller number are the first lines of those of a larger one."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{pairs}.src", folder / f"{pairs}.tgt"
    sizes = [min(PIECE, pairs - first) for first in range(0, pairs, PIECE)]
    with ProcessPoolExecutor(processes) as executor, paths[0].open("wb") as source, paths[1].open("wb") as target:
        for sides in executor.map(draw_pairs, range(len(sizes)), sizes):
            source.write(sides[0])
            target.write(sides[1])
    return paths


def draw_pairs(number: int, pairs: int) -> tuple[bytes, bytes]:
    """The lines of both sides of one piece."""
    generator = np.random.default_rng([number, 1])
    lines = _draw(generator, pairs)
    recurring = _recurring()
    for place in np.flatnonzero(generator.random(pairs) < SHARE).tolist():
        lines[place] = recurring[generator.integers(RECURRING)]
    source, target = (b"".join(side) for side in zip(*lines, strict=True))
    return source, target


def _draw(generator: np.random.Generator, pairs: int) -> list[tuple[bytes, bytes]]:
    scale = MEAN_WORDS * np.exp(-(SPREAD**2) / 2)
    source = scale * np.exp(SPREAD * generator.standard_normal(pairs))
    target = 0.95 * source * np.exp(0.12 * generator.standard_normal(pairs))
    sides = [
        _sentences(generator, np.clip(each, 1, LONGEST).astype(int), side) for side, each in enumerate((source, target))
    ]
    return list(zip(*sides, strict=True))


def _sentences(generator: np.random.Generator, lengths: np.ndarray, side: int) -> Iterator[bytes]:
    words, chances = _vocabulary(side)
    drawn = words[np.searchsorted(chances, generator.random(int(lengths.sum())))]
    ends = np.cumsum(lengths).tolist()
    return (b" ".join(drawn[end - length : end]) + b" .\n" for end, length in zip(ends, lengths.tolist(), strict=True))


@cache
def _vocabulary(side: int) -> tuple[np.ndarray, np.ndarray]:
    """The words of a language, the most frequent first, and the sums of their chances."""
    generator = np.random.default_rng([side, 0])
    sizes = np.clip(2 + generator.gamma(2.0, 0.35 * np.log2(2 + np.arange(WORDS) / 20) + 0.5), 1, 20).astype(int)
    # Letters as frequent as in a language, so that subwords of several letters are worth having.
    letters = LETTERS[np.minimum(generator.geometric(0.12, int(sizes.sum())) - 1, len(LETTERS) - 1)].tobytes()
    ends = np.cumsum(sizes).tolist()
    words = [letters[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]
    chances = (np.arange(WORDS) + 2.7) ** -STEEPNESS  # Mandelbrot's form of the law
    return np.array(words, object), np.cumsum(chances / chances.sum()) * (1 - 1e-12)


@cache
def _recurring() -> list[tuple[bytes, bytes]]:
    return _draw(np.random.default_rng([0, 2]), RECURRING)
