"""ROUGE: how much of a reference a summary contains, and how much else (Lin 2004).

    ROUGE-N     common n-grams, each as often as in the text that has fewer of it (section 2)
    ROUGE-L     the longest common subsequence of words, with the whole text as one sentence (section 3.1)
    ROUGE-Lsum  for each sentence of the reference, the words that belong to its longest common subsequence with any
                sentence of the summary (the union LCS of section 3.2); line breaks separate sentences. If there are
                several longest ones, the union depends on the choice, and ours is that of rouge-score

Each gives a precision P = common / written, a recall R = common / wanted and F = 2PR / (P + R). The value is the mean
of F over the texts, from 0 to 1 as ROUGE-1.5.5 prints it. The reference with the highest F counts, without the
jackknifing with which the paper compared systems with people.

Words are runs of letters and digits in lower case, in any script. ROUGE-1.5.5 and its successors know only a to z and
lose the rest: for English our numbers equal theirs, and other languages are scored here on all their words.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from regard.metrics.ngrams import count_shared, windows, words
from regard.metrics.stems import stem
from regard.metrics.summed import Summed, mean_of_best

_SHORTEST_STEMMED = 4  # ROUGE-1.5.5 does not stem words of up to three letters


class Overlap(NamedTuple):
    """Overlap of two texts, in n-grams or words."""

    common: int
    written: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.common / self.written if self.written else 0.0

    @property
    def recall(self) -> float:
        return self.common / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if self.common else 0.0


Cut = Callable[[str], list[str]]


def overlap_of_ngrams(order: int, cut: Cut, hypothesis: str, reference: str) -> Overlap:
    """Return the ROUGE-N overlap of one text."""
    written, wanted = cut(hypothesis), cut(reference)
    if order == 1:
        return Overlap(count_shared(written, wanted), len(written), len(wanted))
    ours, theirs = list(windows(written, order)), list(windows(wanted, order))
    return Overlap(count_shared(ours, theirs), len(ours), len(theirs))


def overlap_in_order(cut: Cut, hypothesis: str, reference: str) -> Overlap:
    """Return the ROUGE-L overlap of one text."""
    from rapidfuzz.distance import LCSseq

    written, wanted = cut(hypothesis), cut(reference)
    return Overlap(LCSseq.similarity(written, wanted), len(written), len(wanted))


def overlap_by_sentence(cut: Cut, hypothesis: str, reference: str) -> Overlap:
    """Return the ROUGE-Lsum overlap of one text; a word counts at most as often as in either text."""
    if "\n" not in hypothesis and "\n" not in reference:
        return overlap_in_order(cut, hypothesis, reference)  # equal for single sentences, and much faster
    written, wanted = _sentences(cut, hypothesis), _sentences(cut, reference)
    left = Counter(word for sentence in written for word in sentence)
    common = 0
    for sentence in wanted:
        places = {place for other in written for place in _places(sentence, other)}
        matched = Counter(sentence[place] for place in places)
        common += (matched & left).total()
        left -= matched
    return Overlap(common, sum(map(len, written)), sum(map(len, wanted)))


def _sentences(cut: Cut, text: str) -> list[list[str]]:
    return [sentence for line in text.split("\n") if (sentence := cut(line))]


def _places(sentence: Sequence[str], other: Sequence[str]) -> set[int]:
    """Return the places in a sentence of the words of a longest common subsequence with another sentence.

    If there are several, it is the one found from the end: equal words belong to it; otherwise the last word of the
    other sentence is dropped if that leaves a longer one, else the last of this sentence.
    """
    other_words = set(other)
    candidates = [place for place, word in enumerate(sentence) if word in other_words]  # others do not matter
    lengths = _common_lengths([sentence[place] for place in candidates], other)
    places, row, column = set(), len(candidates), len(other)
    while row and column:
        if sentence[candidates[row - 1]] == other[column - 1]:
            row, column = row - 1, column - 1
            places.add(candidates[row])
        elif lengths[row][column - 1] > lengths[row - 1][column]:
            column -= 1
        else:
            row -= 1
    return places


def _common_lengths(one: Sequence[str], other: Sequence[str]) -> list[list[int]]:
    """Return the length of the longest common subsequence of the first i words of one and the first j of the other."""
    lengths = [[0] * (len(other) + 1)]
    for word in one:
        above, row = lengths[-1], [0]
        for column, theirs in enumerate(other):
            row.append(above[column] + 1 if word == theirs else max(above[column + 1], row[column]))
        lengths.append(row)
    return lengths


def stemmed_words(text: str) -> list[str]:
    """Return the words, with those of four letters or more stemmed by Porter's English stemmer, as ROUGE-1.5.5 -m."""
    return [stem("porter", word) if len(word) >= _SHORTEST_STEMMED else word for word in words(text)]


COMPARISONS: dict[str, Callable[[Cut, str, str], Overlap]] = {
    "rouge1": partial(overlap_of_ngrams, 1),
    "rouge2": partial(overlap_of_ngrams, 2),
    "rougeL": overlap_in_order,
    "rougeLsum": overlap_by_sentence,
}


def rouge(kind: str, stemmed: bool = False) -> Summed:
    """Return one of the comparisons as a metric, of words or of their English stems."""
    compare, cut = COMPARISONS[kind], stemmed_words if stemmed else words
    stems = "porter" if stemmed else "off"
    how = f"case:lc|norm:NFC|tok:words|stem:{stems}|ref:best|mean:text|range:0-1"
    return mean_of_best(lambda written, wanted: compare(cut, written, wanted).f1, lambda: how)
