"""Detect text that was tokenised before scoring.

sacreBLEU's scores are for plain text, which it tokenises itself. Text that is already tokenised scores differently, and
nothing about the number shows it.
"""

from collections.abc import Sequence

from regard.metrics.bleu import CHOOSABLE, UNCUT

_PIECES = ("@@", "\u2581")  # byte-pair encoding's mark at the end of a piece, and SentencePiece's at its beginning

FOR_TOKENS = "bleu-tokenised"  # metric for tokenised text


def tokenised_remark(
    name: str, texts: Sequence[str], metrics: Sequence[str], tokenise: str | None = None
) -> str | None:
    """Return a remark for text that looks tokenised, unless every requested metric is made for that."""
    made_for_it = {FOR_TOKENS, CHOOSABLE} if tokenise == UNCUT else {FOR_TOKENS}
    why = looks_tokenised(texts) if set(metrics) - made_for_it else None
    if why is None:
        return None
    return (
        f"{name}: this looks tokenised, because {why}. Scores are for plain text; detokenise it, or use {FOR_TOKENS}."
    )


def looks_tokenised(texts: Sequence[str]) -> str | None:
    """Return why these sentences look tokenised, or None if they do not.

    They do if most final full stops stand alone, and more than a few do, or if most sentences contain pieces of words.
    Other marks prove nothing: French puts spaces before them.
    """
    stops = sum(text.endswith(".") for text in texts)
    alone = sum(text.endswith(" .") for text in texts)
    if 2 * alone > stops and 20 * alone > len(texts):
        return f"{alone} of {len(texts)} lines end in a full stop that stands alone"
    pieces = sum(_holds_pieces(text) for text in texts)
    if 2 * pieces > len(texts):
        return f"{pieces} of {len(texts)} lines hold pieces of words"
    return None


def _holds_pieces(text: str) -> bool:
    end, begin = _PIECES
    return any(word.endswith(end) or word.startswith(begin) for word in text.split())
