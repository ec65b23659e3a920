"""Tokenisers as plain values, from which the scripts of a page split text and join tokens."""

from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.data.tokenisers.byte_pairs import read_byte_pairs
from regard.data.tokenisers.sentencepieces import open_model
from regard.data.tokenisers.tokeniser import CaselessTokeniser, Tokeniser, TokeniserOptions
from regard.data.tokenisers.wordpiece import MARKS, read_wordpieces

KINDS = ("unigram", "bpe", "characters", "bytes", "words", "spaces", "wordpiece", "gpt2")  # of `onefile/tokeniser.js`
_FIRST_BYTE = 4  # token of the byte 0 in a vocabulary of bytes


def tokeniser_data(tokeniser: Tokeniser, options: TokeniserOptions) -> dict[str, Any]:
    """Return a tokeniser as plain values; `options` are those of its own side."""
    if options.kind not in KINDS:
        raise Fault(
            f"Pages have no tokeniser of kind {options.kind!r}, only {', '.join(KINDS[:-1])} and {KINDS[-1]}; "
            "serve this model instead."
        )
    return {
        "kind": options.kind,
        "names": tokeniser.pieces(range(tokeniser.size)),
        "special": {name: getattr(tokeniser, name) for name in ("pad", "unknown", "begin", "end")},
        "caseless": options.ignore_case or isinstance(tokeniser, CaselessTokeniser),
        **_more(tokeniser, options),
    }


def _more(tokeniser: Tokeniser, options: TokeniserOptions) -> dict[str, Any]:
    """Return what only some kinds need."""
    nothing: dict[str, Any] = {"scores": [], "bytes": []}
    match options.kind:
        case "bytes":
            return nothing | {"bytes": [*range(_FIRST_BYTE, _FIRST_BYTE + 256)]}
        case "words" | "spaces":
            return nothing
        case "wordpiece":
            return nothing | _spelling(tokeniser)
        case "gpt2":
            return nothing | {"pairs": _pairs(tokeniser)}
    return _pieces(tokeniser)


def _spelling(tokeniser: Tokeniser) -> dict[str, Any]:
    """Return how a WordPiece spells text, from the file that it would be stored in."""
    (stored,) = tokeniser.files("").values()
    options = read_wordpieces(stored).options
    spelling = {
        "lowerCase": options.lower_case,
        "stripAccents": options.strips_accents,
        "partIdeographs": options.part_ideographs,
    }
    return {"spelling": spelling, "marks": MARKS}


def _pairs(tokeniser: Tokeniser) -> dict[str, Any]:
    """Return the vocabulary and the pairs of a GPT-2, as tokens in merge order, from the file it would be stored in."""
    (stored,) = tokeniser.files("").values()
    byte_pairs = read_byte_pairs(stored)
    tokens = byte_pairs.vocabulary()
    pairs = [tokens[word] for pair in byte_pairs.pairs for word in pair]
    return {"words": [*tokens], "pairs": pairs, "silent": sorted(byte_pairs.silent)}


def _pieces(tokeniser: Tokeniser) -> dict[str, Any]:
    """Return the scores of pieces, in as few digits as 32 bits need, and the tokens of bytes if there are any."""
    (model,) = tokeniser.files("").values()
    processor, tokens = open_model(model), [*range(tokeniser.size)]
    is_byte: list[bool] = processor.is_byte(tokens)
    by_value = {int(processor.id_to_piece(token)[3:5], 16): token for token in tokens if is_byte[token]}
    return {
        "scores": [float(str(np.float32(score))) for score in processor.get_score(tokens)],
        "bytes": [by_value.get(value) for value in range(256)] if by_value else [],
    }
