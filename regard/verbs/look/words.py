"""Attention among the words of one text, for pages that edit it: weights, the places of tokens, and both outputs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from regard.base.doors import Limits, TooLarge
from regard.base.edits import Edit
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.edited import see_both
from regard.seeing.gazes import Sight, see_input
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest
from regard.viewing.canvas import show_word
from regard.viewing.looks import LooksBetween, places_along
from regard.viewing.page import side_data
from regard.viewing.sides import Steps, Words

Mode = Literal["words", "tokens"]


def look_at_words(
    model: Loaded, text: str, mode: Mode, edits: Sequence[Edit] | None, write: int | None, limits: Limits
) -> dict[str, Any]:
    """Return the attention of a model to the words of a text, and its output with and without edits.

    The output of a language model is its next token or, with `write`, its greedy continuation by that many tokens.
    """
    sight, plain = see_both(model, edits, lambda: _sight(model, text, write))
    looks = {"source": _text(text), "target": _text(sight.output), "modes": {mode: _sides(sight, mode, limits)}}
    if plain is None:
        return {"looks": looks, "output": sight.output}
    unedited = {"unedited": plain.output, "checksum": model.fingerprint}
    return {"looks": looks | {"unedited": _text(plain.output)}, "output": sight.output, **unedited}


def token_places(looks: LooksBetween, by_word: bool) -> dict[str, list[int]]:
    """Return the row and the column of each token, since edits name tokens."""
    _, rows = places_along(looks.looks_from, looks.looks_at, by_word)
    _, columns = places_along(looks.looks_at, looks.looks_from, by_word)
    return {"row_of_token": rows, "column_of_token": columns}


def _sight(model: Loaded, text: str, write: int | None) -> Sight:
    sight = see_input(model.task, text)
    if write is None:
        return sight
    assert isinstance(model, LanguageModel)  # the door has checked it
    request = GenerateRequest(prompt=[text], tokens=write, beam=1, when_full="stop")
    ((best, *_),) = model.generate_by(request)
    return replace(sight, output=best.text.removeprefix(best.prompt))


def _sides(sight: Sight, mode: Mode, limits: Limits) -> dict[str, Any]:
    """Return the weights of every attention among words, by the name of its side."""
    by_word = mode == "words"
    between = {name: sight.between(name) for name in sight.looks}
    if any(len(gaze.weights) > 1 for gaze in sight.gazes):
        raise Fault("This text asks several questions at once, and its attention is shown for one; ask one of them.")
    between = {
        name: looks
        for name, looks in between.items()
        if isinstance(looks.looks_from, Words | Steps) and isinstance(looks.looks_at, Words)
    }
    if not between:
        raise Fault("'mode' is for attention among words, which this model does not have; omit it.")
    count = sum(block.weights.size for looks in between.values() for block in looks.blocks)
    if count > limits.weights:
        raise TooLarge(f"These are {count:,} weights, but the limit is {limits.weights:,}; give a shorter text.")
    return {name: side_data(sight.seen(name, by_word)) | token_places(between[name], by_word) for name in between}


def _text(text: str) -> dict[str, str]:
    return {"text": show_word(text) if text else "", "language": ""}
