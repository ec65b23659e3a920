"""What may be written next, for one hypothesis, as plainly as it can be said."""

from collections.abc import Sequence

from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands

NOTHING = float("-inf")


def plain_rules(
    given: list[float], tokens: list[int], end: int, limit: int, options: DecodingOptions, demands: Demands
) -> list[float]:
    """What is ranked by for each next token, -inf for what may not be; `demands` are those of this sentence alone."""
    prefix = demands.prefixes[0] if demands.prefixes else []
    penalised = [value * options.repetition_penalty if token in tokens else value for token, value in enumerate(given)]
    if len(tokens) < len(prefix):
        return [value if token == prefix[len(tokens)] else NOTHING for token, value in enumerate(penalised)]
    if len(tokens) + 1 >= limit:
        return [value if token == end else NOTHING for token, value in enumerate(penalised)]
    values = [
        value if token == end or _may(tokens, token, options, demands) else NOTHING
        for token, value in enumerate(penalised)
    ]
    others = any(value > NOTHING for token, value in enumerate(values) if token != end)
    if len(tokens) < options.shortest and others:
        values[end] = NOTHING
    return values


def _may(tokens: list[int], token: int, options: DecodingOptions, demands: Demands) -> bool:
    longer = [*tokens, token]
    if demands.allowed is not None and token not in demands.allowed:
        return False
    if any(longer[-len(phrase) :] == list(phrase) for phrase in demands.forbidden):
        return False
    size = options.unrepeated
    return not size or longer[-size:] not in [longer[at : at + size] for at in range(len(longer) - size)]


def met(tokens: Sequence[int], phrase: Sequence[int]) -> bool:
    return any(list(tokens[at : at + len(phrase)]) == list(phrase) for at in range(len(tokens)))


def begun(tokens: Sequence[int], phrase: Sequence[int]) -> int:
    """How many of the phrase's first tokens the tokens end with."""
    sizes = range(min(len(phrase), len(tokens)), 0, -1)
    return next((size for size in sizes if list(tokens[-size:]) == list(phrase[:size])), 0)


def bank(tokens: Sequence[int], phrases: Sequence[Sequence[int]]) -> int:
    """The tokens of all phrases met, and of the one begun furthest."""
    whole = sum(len(phrase) for phrase in phrases if met(tokens, phrase))
    return whole + max((begun(tokens, phrase) for phrase in phrases if not met(tokens, phrase)), default=0)
