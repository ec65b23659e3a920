"""Prompts and texts of language models as tokens, line by line; imports no torch."""

from collections.abc import Sequence

from regard.base.faults import TooLong
from regard.data.tokenisers.byte_pairs import BytePairTokeniser
from regard.data.tokenisers.tokeniser import Tokeniser


def encode_lines(tokeniser: Tokeniser, text: str) -> list[int]:
    """Return the tokens of a prompt; a line break becomes an end token, as in the training text."""
    if isinstance(tokeniser, BytePairTokeniser):  # a line break is an ordinary token to it
        return tokeniser.encode(text)
    first, *others = tokeniser.encode_all(text.split("\n"))
    return [*first, *(token for line in others for token in (tokeniser.end, *line))]


def decode_lines(tokeniser: Tokeniser, tokens: Sequence[int]) -> str:
    """Return the text of tokens; an end token becomes a line break."""
    return "\n".join(tokeniser.decode(line) for line in split_lines(tokens, tokeniser.end))


def split_lines(tokens: Sequence[int], end: int) -> list[Sequence[int]]:
    """Return the tokens of each line, without the ends between them; one line more than there are ends."""
    ends = [place for place, token in enumerate(tokens) if token == end]
    return [tokens[first:last] for first, last in zip([0, *(place + 1 for place in ends)], [*ends, None], strict=True)]


def room_after(prompt: int, context: int, number: int) -> int:
    """Return how many tokens, including the end, may follow a prompt of `prompt` tokens until the context is full.

    A prompt that leaves no room is refused by its number.
    """
    if prompt > context - 2:  # an end precedes it, and something must follow
        raise TooLong(
            number,
            f"the prompt has {prompt:,} tokens, but a context of {context:,} leaves room for {context - 2:,}; "
            "shorten it, or let the model forget the older half (when_full = forget).",
        )
    return context - prompt
