"""The next token as one HTML page with sliders: complete in itself, offline, in any browser."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.choices.record import Choices
from regard.viewing.sealed import SealedPage, named_language
from regard.viewing.written import visible

STYLES = ("page.css", "next.css")
SCRIPT = "next-page.js"
_DIGITS = 6  # of a log-probability
KEPT = 400  # tokens with a probability of their own at each place of an output


@dataclass(frozen=True)
class ChoicesStart:
    """What a page shows first, and the examples it offers: options of sampling by their names."""

    options: Mapping[str, float] = field(default_factory=dict)
    examples: Sequence[Mapping[str, float]] = ()
    shown: int = 12  # tokens


def choices_page(
    choices: Choices, languages: tuple[str, str] = ("", ""), start: ChoicesStart | None = None
) -> SealedPage:
    """The page of a next token; all tokens that have names can be shown, and all others count.

    The languages are those of source and target, so that a browser shapes and reads them right.
    """
    return SealedPage(SCRIPT, STYLES, _data(choices, languages, start or ChoicesStart()))


def _data(choices: Choices, languages: tuple[str, str], start: ChoicesStart) -> dict[str, Any]:
    source, target = map(named_language, languages)
    own = _possible(choices)
    return {
        "source": {"text": show_word(choices.source) if choices.source else "", "language": source},
        "target": {"text": show_word(choices.written) if choices.written else "", "language": target},
        "before": [visible(token) for token in choices.before],
        "tokens": [visible(token) for token in choices.tokens[: len(own)]],
        "log_probabilities": np.log(own).round(_DIGITS).tolist(),
        "taken": choices.taken,
        "nearest": [[visible(token), round(cosine, _DIGITS)] for token, cosine in choices.nearest],
        "start": dict(start.options),
        "examples": [dict(example) for example in start.examples],
        "shown": min(start.shown, len(choices.tokens), len(own)),
    }


def place_data(choices: Choices, kept: int = KEPT) -> dict[str, Any]:
    """One place of an output as its view takes it: the likeliest tokens each, and all others together."""
    own = _possible(choices)
    return {
        "tokens": [visible(token) for token in choices.tokens[: len(own)]],
        "log_probabilities": np.log(own[:kept]).round(_DIGITS).tolist(),
        "rest": {"count": len(own[kept:]), "probability": round(float(own[kept:].sum()), 2 * _DIGITS)},
        "taken": choices.taken,
    }


def _possible(choices: Choices) -> np.ndarray:
    """The model's own probabilities, without the tokens that it never writes, which stand last."""
    own = choices.panels[0].probabilities
    return own[own > 0]
