"""Error rates: how many edits lead from what was written to what should have been (Levenshtein 1966).

    rate = 100 · Σ edits / Σ length of the reference

The sums run over the whole corpus, an edit inserts, deletes or replaces one unit, and a rate may exceed 100. Where a
sentence has several references, the nearest counts: the one with the fewest edits, the first of equally near ones.
Case and punctuation count as they are written.

When the words of a text are phonemes, `wer` is what the literature calls the phoneme error rate, and 100 − `exact` is
its word error rate.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from regard.base.faults import Fault

References = Sequence[Sequence[str | None]]  # whole references; None where a sentence has fewer than others
Cut = Callable[[str], Sequence[str]]


def word_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Edits of words, which are what stands between white space; the rate and its signature."""
    return _error_rate(hypotheses, references, str.split, "case:mixed|norm:NFC|ref:nearest|unit:word")


def character_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Edits of characters; the rate and its signature.

    Characters are the Unicode code points of the NFC form, spaces within the text included. What NFC cannot put into
    one code point is two, such as a Russian а́ with its stress mark.
    """
    return _error_rate(hypotheses, references, str.strip, "case:mixed|norm:NFC|ref:nearest|unit:codepoint")


def position_independent_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Edits of words that may stand anywhere (Tillmann et al. 1997); the rate and its signature.

    A word in the wrong place is right. Of the others, one written in place of one wanted is a single edit:

        edits = max(words written, words wanted) − words in common
    """
    how = "case:mixed|norm:NFC|ref:nearest|unit:word|order:free"
    return _error_rate(hypotheses, references, str.split, how, distance=unordered_distance)


def exact_matches(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """The percentage of outputs that equal a reference of theirs, spaces around them aside; with its signature."""
    sentences = by_sentence(references)
    right = sum(
        normal(hypothesis).strip() in (normal(text).strip() for text in own)
        for hypothesis, own in zip(hypotheses, sentences, strict=True)
    )
    return 100 * right / len(sentences), signature(sentences, "case:mixed|norm:NFC|ref:any|unit:sentence")


def by_sentence(references: References) -> list[list[str]]:
    """The references of each sentence; one that has none is a fault."""
    sentences = [[text for text in own if text is not None] for own in zip(*references, strict=True)]
    for number, own in enumerate(sentences, 1):
        if not own:
            raise Fault(f"Sentence {number} has no reference; each needs at least one.")
    return sentences


def ordered_distance(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """The fewest edits that lead from one to the other."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(hypothesis, reference)


def unordered_distance(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """The fewest edits that lead from one to the other in any order."""
    return max(len(hypothesis), len(reference)) - (Counter(hypothesis) & Counter(reference)).total()


Distance = Callable[[Sequence[str], Sequence[str]], int]


def _error_rate(
    hypotheses: Sequence[str], references: References, cut: Cut, how: str, distance: Distance = ordered_distance
) -> tuple[float, str]:
    sentences = by_sentence(references)
    edits = length = 0
    for hypothesis, own in zip(hypotheses, sentences, strict=True):
        more_edits, more_length = nearest(cut(normal(hypothesis)), [cut(normal(text)) for text in own], distance)
        edits, length = edits + more_edits, length + more_length
    if not length:
        raise Fault("The references are all empty, so there is no rate of errors.")
    return 100 * edits / length, signature(sentences, how)


def nearest(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], distance: Distance = ordered_distance
) -> tuple[int, int]:
    """The edits to the nearest reference, and its length."""
    found = [(distance(hypothesis, reference), len(reference)) for reference in references]
    return min(found, key=lambda edits_and_length: edits_and_length[0])


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def signature(sentences: Sequence[Sequence[str]], how: str) -> str:
    """In the manner of sacreBLEU's: `var` where sentences have different numbers of references."""
    counts = {len(own) for own in sentences}
    return f"nrefs:{counts.pop() if len(counts) == 1 else 'var'}|{how}"
