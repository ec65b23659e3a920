"""Metrics of word vectors: solved analogies, and similarity compared with human judgements.

What counts, how question words are looked up and which words may answer follow gensim's `evaluate_word_analogies` and
`evaluate_word_pairs`, so that figures can be compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from regard.base.progress import Progress, silent
from regard.data.vectors.questions import JudgedPair, Section
from regard.data.vectors.word_vectors import WordVectors

VOCABULARY = 300_000  # the most frequent words take part; also gensim's default
_SCORES_AT_ONCE = 1 << 23  # cosines in memory: 32 MB
_UNKNOWN = -1


@dataclass(frozen=True)
class AnalogyScore:
    """Solved analogies of a section; those with an unknown word are skipped, not counted as wrong."""

    section: str
    solved: int
    tried: int  # those whose four words are known
    asked: int

    @property
    def accuracy(self) -> float:
        """Share of the tried analogies that were solved, from 0 to 1; NaN if none was tried."""
        return self.solved / self.tried if self.tried else float("nan")

    @property
    def coverage(self) -> float:
        """Share of all analogies that were tried."""
        return self.tried / self.asked


@dataclass(frozen=True)
class SimilarityScore:
    """Spearman's correlation between cosines and judgements, over the pairs whose words both have a vector."""

    spearman: float
    compared: int
    asked: int

    @property
    def coverage(self) -> float:
        """Share of the pairs that were compared."""
        return self.compared / self.asked


class KnownWords:
    """The words that take part, by form: unchanged, or in capitals to ignore case.

    Among several words with one form, the first and most frequent stands for all.
    """

    def __init__(self, vectors: WordVectors, vocabulary: int, any_case: bool) -> None:
        self._form: Callable[[str], str] = str.upper if any_case else str
        self.rows: dict[str, int] = {}
        self.count = min(len(vectors), vocabulary)
        self.representative = np.empty(self.count, dtype=np.int64)  # the row that stands for each word's form
        self._others: dict[int, list[int]] = {}
        for row, word in enumerate(vectors.words[: self.count]):
            first = self.rows.setdefault(self._form(word), row)
            self.representative[row] = first
            if first != row:
                self._others.setdefault(first, []).append(row)

    def row(self, word: str) -> int:
        """Return the row that stands for a word, or _UNKNOWN."""
        return self.rows.get(self._form(word), _UNKNOWN)

    def variants(self, row: int) -> list[int]:
        """Return all rows with the form that a row stands for."""
        return [row, *self._others.get(row, ())]


def solve_analogies(
    vectors: WordVectors,
    sections: Sequence[Section],
    vocabulary: int = VOCABULARY,
    any_case: bool = True,
    progress: Progress = silent,
) -> list[AnalogyScore]:
    """Count the solved analogies of each section by 3CosAdd (Mikolov et al. 2013, Linguistic Regularities).

    argmax over d of cos(d, b - a + c), all vectors of length 1, where d is none of a, b and c in any case
    """
    lexicon = KnownWords(vectors, vocabulary, any_case)
    units = vectors.units(slice(0, lexicon.count))
    total, done, scores = sum(len(section.analogies) for section in sections), 0, []
    for section in sections:
        rows = np.array([[lexicon.row(word) for word in analogy] for analogy in section.analogies])
        tried = rows[(rows != _UNKNOWN).all(axis=1)]
        solved = _solved(units, tried, lexicon)
        done += len(rows)
        progress("solving analogies", done, total)
        scores.append(AnalogyScore(section.name, int(solved.sum()), len(tried), len(rows)))
    return scores


def _solved(units: np.ndarray, analogies: np.ndarray, lexicon: KnownWords) -> np.ndarray:
    """Return True for each solved analogy (analogy, 4), given by rows."""
    solved = np.zeros(len(analogies), dtype=bool)
    size = max(1, _SCORES_AT_ONCE // len(units))
    for start in range(0, len(analogies), size):
        a, b, c, d = analogies[start : start + size].T
        scores = (units[b] - units[a] + units[c]) @ units.T
        for place, words in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
            for word in words:
                scores[place, lexicon.variants(word)] = -np.inf
        solved[start : start + size] = lexicon.representative[scores.argmax(axis=1)] == d
    return solved


def add_scores(scores: Sequence[AnalogyScore], name: str) -> AnalogyScore:
    """Add up scores of several sections; every analogy counts equally."""
    return AnalogyScore(
        name,
        sum(score.solved for score in scores),
        sum(score.tried for score in scores),
        sum(score.asked for score in scores),
    )


def compare_similarities(
    vectors: WordVectors,
    pairs: Sequence[JudgedPair],
    vocabulary: int = VOCABULARY,
    any_case: bool = True,
    compose: Callable[[str], np.ndarray | None] | None = None,
) -> SimilarityScore:
    """Correlate the cosines of word pairs with human judgements.

    A pair with an unknown word is skipped, unless `compose` gives vectors to words outside the vocabulary.
    """
    lexicon = KnownWords(vectors, vocabulary, any_case)

    def vector(word: str) -> np.ndarray | None:
        row = lexicon.row(word)
        return vectors.matrix[row] if row != _UNKNOWN else compose(word) if compose else None

    cosines, judgements = [], []
    for pair in pairs:
        first, second = vector(pair.first), vector(pair.second)
        if first is not None and second is not None:
            cosines.append(_cosine(first, second))
            judgements.append(pair.judgement)
    return SimilarityScore(spearman(np.array(cosines), np.array(judgements)), len(cosines), len(pairs))


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Return the cosine in float64, with one root, so that a word with itself gives exactly 1 and such pairs share a
    rank.

    In gensim, rounding orders them, which can move the correlation of a file with many of them by 0.0001.
    """
    one, other = first.astype(np.float64), second.astype(np.float64)
    length = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / length if length else 0.0


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """Return Spearman's correlation of two lists: Pearson's of their ranks, where equal values share their mean rank.

    It is NaN for fewer than two values, or if all values of a list are equal.
    """
    if len(one) < 2:
        return float("nan")
    first, second = (ranks - ranks.mean() for ranks in (mean_ranks(one), mean_ranks(other)))
    lengths = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float(first @ second) / lengths if lengths else float("nan")


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, from 1; equal values have the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    return (last - (counts - 1) / 2)[places]
