"""Sentences that clients send to translators: their length, and outputs given by the names of tokens."""

from collections.abc import Sequence
from typing import Any

from regard.base.doors import Limits
from regard.base.faults import Fault


def check_sentence(model: Any, text: str, limits: Limits) -> None:
    """Refuse a sentence with more tokens than the server allows."""
    source, _ = model.tokenisers
    length = len(source.encode(text)) + 1 if len(text) <= limits.characters else limits.sentence + 1
    if length > limits.sentence:
        raise Fault(f"The sentence is longer than {limits.sentence} tokens; give a shorter one.")


def output_tokens(model: Any, text: str, names: Sequence[str]) -> list[int]:
    """Return the tokens of a translator's output, given their names."""
    tokens: list[int] = model.target_tokens(names, text)
    if model.model.task.end in tokens:
        raise Fault("An output's end is not one of its tokens; omit it.")
    return tokens
