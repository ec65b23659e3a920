"""Scores of parses written as lines (regard/data/trees/linear.py): labelled brackets, and well-formedness.

A bracket is a phrase: its label, its first word and its last. As EVALB counts them with Collins' parameters:

    precision = brackets in both / brackets written      recall = brackets in both / brackets wanted
    F1 = 2 · precision · recall / (precision + recall)

over the whole corpus. Punctuation marks (, . : `` '') are removed first, with phrases that hold nothing else. A root
TOP does not count, ADVP and PRT are one label, and parts of speech are not brackets. A bracket that occurs twice counts
twice.

EVALB skips an output with another number of words than the sentence. Here it is repaired and counts: brackets over
surplus words are cut off, and missing words are in no bracket.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

from regard.base.faults import Fault
from regard.data.trees.linear import PUNCTUATION, mend_line, read_line, spans
from regard.data.trees.tree import NAMELESS_ROOT, NoTree, Tree
from regard.metrics.summed import Row, Summed, mean

_SAME = {"PRT": "ADVP"}
_HOW = "brackets:labelled|punctuation:out|rules:collins|malformed:mended"


def brackets() -> Summed:
    """Return the metric F1 of labelled brackets, from 0 to 100; the best reference of a sentence counts."""

    def row(hypothesis: Tree, reference: Tree) -> Row:
        leaves = [leaf.tag for leaf in reference.leaves()]
        written, wanted = _brackets_of(hypothesis, leaves), _brackets_of(reference, leaves)
        return (written & wanted).total(), written.total(), wanted.total()

    return Summed(_best_rows(lambda line, reference: row(mend_line(line), reference), _f1), _f1, lambda: _HOW)


def well_formed() -> Summed:
    """Return the metric of outputs that are valid trees with as many words as the sentence, in percent."""

    def row(line: str, reference: Tree) -> Row:
        try:
            fits = _count_words(read_line(line)) == _count_words(reference)
        except NoTree:
            fits = False
        return 100.0 * fits, 1.0

    return Summed(_best_rows(row, mean), mean, lambda: "words:as in the reference|unit:sentence")


def _best_rows(
    row: Callable[[str, Tree], Row], finish: Callable[[Row], float]
) -> Callable[[Sequence[str], Sequence[Sequence[str]]], list[Row]]:
    """Return a function for the row of each sentence, against the reference that gives the highest value."""

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        sides = enumerate(zip(hypotheses, sentences, strict=True), 1)
        return [
            max((row(line, _read_reference(text, number)) for text in references), key=finish)
            for number, (line, references) in sides
        ]

    return rows


def _f1(total: Sequence[float]) -> float:
    """Return twice the common brackets over all written and wanted: the harmonic mean of precision and recall."""
    common, written, wanted = total
    return 200 * common / (written + wanted) if written + wanted else 0.0


def _count_words(tree: Tree) -> int:
    return sum(1 for _ in tree.leaves())


def _read_reference(line: str, number: int) -> Tree:
    try:
        return read_line(line)
    except NoTree as reason:
        raise Fault(
            f"The reference of sentence {number} is not a tree: {reason}; expected a line like '(S (NP DT NN )NP )S'."
        ) from None


def _brackets_of(tree: Tree, leaves: Sequence[str]) -> Counter[tuple[str, int, int]]:
    """Return the brackets of a tree over words with these leaves, with places counted without punctuation."""
    places = [0, *accumulate(leaf not in PUNCTUATION for leaf in leaves)]
    counted: Counter[tuple[str, int, int]] = Counter()
    for label, start, end in spans(tree):
        first, last = (places[min(place, len(leaves))] for place in (start, end))
        if first < last and label != NAMELESS_ROOT:
            counted[_SAME.get(label, label), first, last] += 1
    return counted
