"""Sentence statistics of BLEU and chrF, for many sentences at once.

sacreBLEU counts the n-grams of one sentence after another, in dictionaries. Here those of some hundred sentences are
numbered and counted together, in arrays, which takes a fraction of the time. The counts are the same integers, and
sacreBLEU itself computes the score from their sums, so a score is the same to its last digit.

Two n-grams of order n are equal if they are in the same sentence, their first n − 1 units have the same number, and so
has their last unit. So the numbers of one order give those of the next, and no n-gram is ever written out.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from regard.metrics.errors import References

_PORTION = 500  # sentences counted together
_CODE_POINTS = 0x110000  # in Unicode
_WORD_BY_WORD = ("13a", "none")  # tokenisers that depend only on a word and the spaces around it

Side = Sequence[str | None]  # hypotheses or one whole reference; None if a sentence has no such reference


def sentence_statistics(metric: Any, hypotheses: Sequence[str], references: References) -> np.ndarray:
    """Return the statistics of a sacreBLEU metric (sentence, sum); the metric can then give its signature."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    sides: list[Side] = [list(hypotheses), *map(list, references)]
    if isinstance(metric, BLEU) and metric.tokenizer_signature in _WORD_BY_WORD and not metric.lowercase:
        words = _Words(lambda text: metric._preprocess_segment(text).split())
        rows = [_bleu_rows(words, portion, metric.max_ngram_order) for portion in _portions(sides)]
    elif isinstance(metric, CHRF) and not metric.lowercase and not metric.whitespace:
        words = _Words(metric._remove_punctuation)
        rows = [_chrf_rows(words, portion, metric) for portion in _portions(sides)]
    else:
        return np.array(metric._extract_corpus_statistics(sides[0], sides[1:]))
    counts = {sum(text is not None for text in texts) for texts in zip(*references, strict=True)}
    metric.num_refs = counts.pop() if len(counts) == 1 else -1  # as sacreBLEU records it, for
    return np.concatenate(rows)


def _portions(sides: Sequence[Side]) -> Iterator[list[Side]]:
    for first in range(0, len(sides[0]), _PORTION):
        yield [side[first : first + _PORTION] for side in sides]


class _Words(dict[str, list[int]]):
    """Numbers of the tokens in each word: a word is tokenised only when first met."""

    def __init__(self, cut: Callable[[str], list[str]]) -> None:
        super().__init__()
        self.cut = cut
        self.numbers: dict[str, int] = {}

    def __missing__(self, word: str) -> list[int]:
        tokens = [word] if word.isalnum() else self.cut(word)  # letters and digits alone are never split
        self[word] = [self.numbers.setdefault(token, len(self.numbers)) for token in tokens]
        return self[word]

    def of(self, text: str | None) -> list[int]:
        """Return the tokens of a text; one with a line feed is tokenised whole, since words may be joined there."""
        if text is None:
            return []
        return list(chain.from_iterable(map(self.__getitem__, [text] if "\n" in text else text.split())))


def _bleu_rows(words: _Words, sides: Sequence[Side], highest: int) -> np.ndarray:
    """Return length, closest reference length, clipped matches and n-grams of every order (sentence, sum)."""
    units, lengths = _words_of(words, sides)
    clipped = [
        np.bincount(sentences, np.minimum(counts[0], counts[1:].max(axis=0)), minlength=lengths.shape[1])
        for counts, sentences in _ngrams(units, lengths, len(words.numbers), highest)
    ]
    totals = [_ngrams_in(lengths[0], order) for order in range(1, highest + 1)]
    closest = _closest(lengths[0], lengths[1:], _missing(sides[1:]))
    return np.stack([lengths[0], closest, *clipped, *totals], axis=1).astype(np.int64)


def _closest(length: np.ndarray, references: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the reference length closest to that of the hypothesis, the shorter of two equally close ones."""
    far = np.iinfo(np.int64).max
    distance = np.where(missing, far, np.abs(references - length))
    return np.where(distance == distance.min(axis=0), references, far).min(axis=0)


def _chrf_rows(words: _Words, sides: Sequence[Side], metric: Any) -> np.ndarray:
    """Return for every order the n-grams of the hypothesis, those of the reference, and the matches (sentence, sum).

    The reference of a sentence is the one that gives the best score.
    """
    characters = _overlaps(*_characters_of(sides), _CODE_POINTS, metric.char_order)
    of_words = _overlaps(*_words_of(words, sides), len(words.numbers), metric.word_order) if metric.word_order else []
    rows = np.stack([*characters, *of_words], axis=2).astype(np.int64)  # (reference, sentence, sum)
    if len(rows) == 1:
        return rows[0]
    values = np.array([[metric._compute_f_score(row) for row in reference] for reference in rows.tolist()])
    best = np.where(_missing(sides[1:]), -1, values).argmax(axis=0)
    return rows[best, np.arange(len(best))]


def _overlaps(units: np.ndarray, lengths: np.ndarray, kinds: int, highest: int) -> list[np.ndarray]:
    """Return three sums for every order, each against every reference (reference, sentence)."""
    sums: list[np.ndarray] = []
    for order, (counts, sentences) in enumerate(_ngrams(units, lengths, kinds, highest), 1):
        matches = [
            np.bincount(sentences, np.minimum(counts[0], reference_counts), lengths.shape[1])
            for reference_counts in counts[1:]
        ]
        total, of_references = _ngrams_in(lengths[0], order), _ngrams_in(lengths[1:], order)
        sums += [np.where(of_references, total, 0), of_references, np.stack(matches)]
    return sums


def _ngrams(
    units: np.ndarray, lengths: np.ndarray, kinds: int, highest: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for every order the count of each n-gram on each side (side, n-gram), and its sentence (n-gram)."""
    sides, sentences = lengths.shape
    row = np.repeat(np.arange(sides * sentences), lengths.ravel())
    left = np.repeat(lengths.cumsum(), lengths.ravel()) - np.arange(len(units))  # units to the end of the
    side, sentence = np.divmod(row, sentences)
    begins, names = np.arange(len(units)), sentence * kinds + units
    for order in range(1, highest + 1):
        if order > 1:
            has_next = left[begins] >= order
            begins = begins[has_next]
            names = names[has_next] * kinds + units[begins + order - 1]
        distinct, names = np.unique(names, return_inverse=True)
        counts = np.bincount(side[begins] * len(distinct) + names, minlength=sides * len(distinct))
        sentence_of = np.empty(len(distinct), dtype=np.int64)
        sentence_of[names] = sentence[begins]
        yield counts.reshape(sides, len(distinct)), sentence_of


def _words_of(words: _Words, sides: Sequence[Side]) -> tuple[np.ndarray, np.ndarray]:
    """Return all tokens in one array (token), and their number in each sentence of each side (side, sentence)."""
    numbers = [[words.of(text) for text in side] for side in sides]
    units = np.fromiter(chain.from_iterable(chain.from_iterable(numbers)), dtype=np.int64)
    return units, np.array([[len(tokens) for tokens in side] for side in numbers])


def _characters_of(sides: Sequence[Side]) -> tuple[np.ndarray, np.ndarray]:
    """Return all characters but white space, and their number in each sentence of each side (side, sentence)."""
    texts = [["".join((text or "").split()) for text in side] for side in sides]
    joined = "".join(chain.from_iterable(texts)).encode("utf-32-le", "surrogatepass")
    units = np.frombuffer(joined, dtype="<u4").astype(np.int64)
    return units, np.array([[len(text) for text in side] for side in texts])


def _missing(references: Sequence[Side]) -> np.ndarray:
    return np.array([[text is None for text in side] for side in references])


def _ngrams_in(lengths: np.ndarray, order: int) -> np.ndarray:
    return np.maximum(lengths - order + 1, 0)
