"""Shared by the fast engines: texts to rows of tokens, and outputs to text."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.base.faults import TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.translated import Translated


@dataclass(frozen=True)
class Written:
    """One output: its tokens without the end and its score, and where it was to be explained what led to it.

    The token scores are log-probabilities, the end's last; the alignment has (source word, target word) for each
    target word. Both are empty where nobody asked for them.
    """

    tokens: list[int]
    score: float
    token_scores: list[float]
    alignment: list[tuple[int, int]]


NOTHING = Written([], 0.0, [0.0], [])  # of a text that says nothing


@dataclass(frozen=True)
class Row:
    """A text to be translated: its number among all, its tokens, and how many its output may have, the end counted."""

    number: int
    tokens: list[int]
    limit: int


def rows_of(texts: Sequence[str], source: Tokeniser, longest: int, options: DecodingOptions) -> list[Row]:
    """The texts that say something, each with its limit; `longest` is how many tokens one may have, its end counted."""
    if isinstance(texts, str):
        raise TypeError("translate takes a list of texts; write translate([text], options)")
    numbers = [number for number, text in enumerate(texts) if text.strip()]
    rows = []
    for number, tokens in zip(numbers, source.encode_all([texts[number].strip() for number in numbers]), strict=True):
        length = len(tokens) + 1
        if length > longest:
            text = texts[number][:40]
            raise TooLong(number, f"{text!r}… has {length} tokens, but the model takes {longest} at most; split it.")
        if tokens:  # a text may be of nothing but what no token stands for
            rows.append(Row(number, tokens, options.limit(length, longest)))
    return rows


def translation_of(outputs: Sequence[Written], target: Tokeniser) -> Translated:
    """The best output of a text, and its other candidates, as any engine tells them."""
    best = outputs[0]
    return Translated(
        target.decode(best.tokens),
        best.score,
        target.pieces(best.tokens),
        best.token_scores,
        [(target.decode(each.tokens), each.score) for each in outputs],
        lambda: best.alignment,
    )
