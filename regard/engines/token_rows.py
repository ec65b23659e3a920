"""Shared by the fast engines: texts to rows of tokens, and outputs to text."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.base.faults import TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.translated import Translated


@dataclass(frozen=True)
class Written:
    """One output: its tokens without the end and its score, with details if it was to be explained.

    The token scores are log-probabilities, the end's last; the alignment has (source word, target word) for each target
    word. Both are empty unless requested.
    """

    tokens: list[int]
    score: float
    token_scores: list[float]
    alignment: list[tuple[int, int]]


NOTHING = Written([], 0.0, [0.0], [])  # for an empty text


@dataclass(frozen=True)
class Row:
    """A text to translate: its number, its tokens, and the most tokens its output may have, including the end."""

    number: int
    tokens: list[int]
    limit: int


def rows_of(texts: Sequence[str], source: Tokeniser, longest: int, options: DecodingOptions) -> list[Row]:
    """Return the non-empty texts, each with its limit; `longest` is the most tokens of a text, including its end."""
    if isinstance(texts, str):
        raise TypeError("translate takes a list of texts; write translate([text], options)")
    numbers = [number for number, text in enumerate(texts) if text.strip()]
    rows = []
    for number, tokens in zip(numbers, source.encode_all([texts[number].strip() for number in numbers]), strict=True):
        length = len(tokens) + 1
        if length > longest:
            text = texts[number][:40]
            raise TooLong(number, f"{text!r}… has {length} tokens, but the model takes {longest} at most; split it.")
        if tokens:  # a text may have only characters without tokens
            rows.append(Row(number, tokens, options.limit(length, longest)))
    return rows


def translation_of(outputs: Sequence[Written], target: Tokeniser) -> Translated:
    """Return the best output of a text with its other candidates, as every engine does."""
    best = outputs[0]
    return Translated(
        target.decode(best.tokens),
        best.score,
        target.pieces(best.tokens),
        best.token_scores,
        [(target.decode(output.tokens), output.score) for output in outputs],
        lambda: best.alignment,
    )
