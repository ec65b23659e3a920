"""A text on an axis, where the network has put a token of its own before it."""

from dataclasses import replace

from regard.viewing.sides import Words

FIRST = "[first]"  # the token that some encoders put before a text


def with_first(side: Words) -> Words:
    """The same behind a token that stands for the whole text."""
    return replace(
        side,
        tokens=[FIRST, *side.tokens],
        words=[FIRST, *side.words],
        places=[0, *(place + 1 for place in side.places)],
    )
