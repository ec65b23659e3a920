"""Tokenisers as plain values, from which the scripts of a page split text and join tokens."""

from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.data.tokenisers.sentencepieces import open_model
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions

KINDS = ("unigram", "bpe", "characters", "bytes")  # that `page/onefile/tokeniser.js` knows
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
        "caseless": options.ignore_case,
        **(_pieces(tokeniser) if options.kind != "bytes" else _bytes()),
    }


def _bytes() -> dict[str, Any]:
    return {"scores": [], "bytes": [*range(_FIRST_BYTE, _FIRST_BYTE + 256)]}


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
