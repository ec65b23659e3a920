"""Error rates: how many edits lead from what was written to what should have been (Levenshtein 1966).

    rate = 100 · Σ edits / Σ length of the reference

The sums run over the whole corpus, an edit inserts, deletes or replaces one unit, and a rate may exceed 100. Where a
sentence has several references, the nearest counts: the one with the fewest edits, the first of equally near ones.
Case and punctuation count as they are written.

When the words of a text are phonemes, `wer` is what the literature calls the phoneme error rate, and 100 − `exact` is
its word error rate.
"""

import unicodedata
from collections.abc import Callable, Sequence

from regard.faults import Fault

References = Sequence[Sequence[str | None]]  # whole references; None where a sentence has fewer than others
Cut = Callable[[str], Sequence[str]]


def word_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Edits of words, which are what stands between white space; the rate and its signature."""
    return _error_rate(hypotheses, references, str.split, "ref:nearest|unit:word")


def character_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Edits of characters; the rate and its signature.

    Characters are the Unicode code points of the NFC form, spaces within the text included. What NFC cannot put into
    one code point is two, such as a Russian а́ with its stress mark.
    """
    return _error_rate(hypotheses, references, str.strip, "ref:nearest|unit:codepoint")


def exact_matches(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """The percentage of outputs that equal a reference of theirs, spaces around them aside; with its signature."""
    sentences = by_sentence(references)
    right = sum(
        normal(hypothesis).strip() in (normal(text).strip() for text in own)
        for hypothesis, own in zip(hypotheses, sentences, strict=True)
    )
    return 100 * right / len(sentences), _signature(sentences, "ref:any|unit:sentence")


def by_sentence(references: References) -> list[list[str]]:
    """The references of each sentence; one that has none is a fault."""
    sentences = [[text for text in own if text is not None] for own in zip(*references, strict=True)]
    for number, own in enumerate(sentences, 1):
        if not own:
            raise Fault(f"Sentence {number} has no reference; each needs at least one.")
    return sentences


def _error_rate(hypotheses: Sequence[str], references: References, cut: Cut, how: str) -> tuple[float, str]:
    sentences = by_sentence(references)
    edits = length = 0
    for hypothesis, own in zip(hypotheses, sentences, strict=True):
        more_edits, more_length = nearest(cut(normal(hypothesis)), [cut(normal(text)) for text in own])
        edits, length = edits + more_edits, length + more_length
    if not length:
        raise Fault("The references are all empty, so there is no rate of errors.")
    return 100 * edits / length, _signature(sentences, how)


def nearest(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The edits to the nearest reference, and its length."""
    from rapidfuzz.distance import Levenshtein

    distances = [(Levenshtein.distance(hypothesis, reference), len(reference)) for reference in references]
    return min(distances, key=lambda distance: distance[0])


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _signature(sentences: Sequence[Sequence[str]], how: str) -> str:
    """In the manner of sacreBLEU's: `var` where sentences have different numbers of references."""
    counts = {len(own) for own in sentences}
    return f"nrefs:{counts.pop() if len(counts) == 1 else 'var'}|case:mixed|norm:NFC|{how}"
