"""Error rates: the number of edits from an output to its reference (Levenshtein 1966).

    rate = 100 · Σ edits / Σ length of the reference

The sums run over the whole corpus, an edit inserts, deletes or replaces one unit, and a rate may exceed 100. If a
sentence has several references, the nearest counts: the one with the fewest edits, or the first of several. Case and
punctuation count as written.

If the words of a text are phonemes, `wer` is what the literature calls the phoneme error rate, and 100 − `exact` is its
word error rate.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from regard.base.faults import Fault

References = Sequence[Sequence[str | None]]  # whole references; None for sentences with fewer than others
Cut = Callable[[str], Sequence[str]]


def word_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Return the rate of word edits, with words separated by white space, and its signature."""
    return _error_rate(hypotheses, references, str.split, "case:mixed|norm:NFC|ref:nearest|unit:word")


def character_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Return the rate of character edits and its signature.

    Characters are the Unicode code points of the NFC form, including inner spaces. Letters without a composed form in
    NFC count as two, such as a Russian а́ with its stress mark.
    """
    return _error_rate(hypotheses, references, str.strip, "case:mixed|norm:NFC|ref:nearest|unit:codepoint")


def position_independent_error_rate(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Return the rate of word edits regardless of order (Tillmann et al. 1997) and its signature.

    A word in the wrong place is correct. Among the others, replacing one by another is a single edit:

        edits = max(words written, words wanted) − words in common
    """
    how = "case:mixed|norm:NFC|ref:nearest|unit:word|order:free"
    return _error_rate(hypotheses, references, str.split, how, distance=unordered_distance)


def exact_matches(hypotheses: Sequence[str], references: References) -> tuple[float, str]:
    """Return the percentage of outputs that equal one of their references, ignoring outer spaces; and its signature."""
    sentences = by_sentence(references)
    right = sum(
        normal(hypothesis).strip() in (normal(text).strip() for text in texts)
        for hypothesis, texts in zip(hypotheses, sentences, strict=True)
    )
    return 100 * right / len(sentences), signature(sentences, "case:mixed|norm:NFC|ref:any|unit:sentence")


def by_sentence(references: References) -> list[list[str]]:
    """Return the references of each sentence; a sentence without any is a fault."""
    sentences = [[text for text in texts if text is not None] for texts in zip(*references, strict=True)]
    for number, texts in enumerate(sentences, 1):
        if not texts:
            raise Fault(f"Sentence {number} has no reference; each needs at least one.")
    return sentences


def ordered_distance(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Return the fewest edits from one to the other."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(hypothesis, reference)


def unordered_distance(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Return the fewest edits from one to the other in any order."""
    return max(len(hypothesis), len(reference)) - (Counter(hypothesis) & Counter(reference)).total()


Distance = Callable[[Sequence[str], Sequence[str]], int]


def _error_rate(
    hypotheses: Sequence[str], references: References, cut: Cut, how: str, distance: Distance = ordered_distance
) -> tuple[float, str]:
    sentences = by_sentence(references)
    edits = length = 0
    for hypothesis, texts in zip(hypotheses, sentences, strict=True):
        more_edits, more_length = nearest(cut(normal(hypothesis)), [cut(normal(text)) for text in texts], distance)
        edits, length = edits + more_edits, length + more_length
    if not length:
        raise Fault("All references are empty, so there is no error rate.")
    return 100 * edits / length, signature(sentences, how)


def nearest(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], distance: Distance = ordered_distance
) -> tuple[int, int]:
    """Return the edits to the nearest reference, and its length."""
    candidates = [(distance(hypothesis, reference), len(reference)) for reference in references]
    return min(candidates, key=lambda edits_and_length: edits_and_length[0])


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def signature(sentences: Sequence[Sequence[str]], how: str) -> str:
    """Return a signature in sacreBLEU's style: `var` if sentences have different numbers of references."""
    counts = {len(texts) for texts in sentences}
    return f"nrefs:{counts.pop() if len(counts) == 1 else 'var'}|{how}"
