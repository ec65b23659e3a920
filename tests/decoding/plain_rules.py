"""Plain rules on what one hypothesis may write next."""

from collections.abc import Sequence
from itertools import product

from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Wanted

NOTHING = float("-inf")


def plain_rules(
    given: list[float], tokens: list[int], end: int, limit: int, options: DecodingOptions, demands: Demands
) -> list[float]:
    """Return the ranking value of each next token, -inf if forbidden; `demands` are those of this sentence."""
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


def met(tokens: Sequence[int], phrase: Wanted) -> bool:
    """Return the phrase's own verdict if it has one, else whether a spelling occurs or an opening comes first."""
    if phrase.is_in is not None:
        return phrase.is_in(tokens)
    anywhere = [list(tokens[at:]) for at in range(len(tokens))]
    begins = [(list(tokens), spelling) for spelling in phrase.opening]
    return any(
        rest[: len(spelling)] == list(spelling)
        for rest, spelling in [*product(anywhere, phrase.spellings), *begins]
        if spelling
    )


def begun(tokens: Sequence[int], spelling: Sequence[int]) -> int:
    """Return how many of the spelling's first tokens, short of all, the tokens end with."""
    sizes = range(min(len(spelling) - 1, len(tokens)), 0, -1)
    return next((size for size in sizes if list(tokens[-size:]) == list(spelling[:size])), 0)


def spellings(tokens: Sequence[int], phrase: Wanted) -> list[Sequence[int]]:
    """Return the spellings that can still be written; openings only count where nothing else was written."""
    return [*phrase.spellings, *(spelling for spelling in phrase.opening if begun(tokens, spelling) == len(tokens))]


def next_tokens(tokens: Sequence[int], phrase: Wanted) -> set[int]:
    """Return the tokens that continue a phrase that is not met."""
    return {spelling[begun(tokens, spelling)] for spelling in spellings(tokens, phrase)}


def bank(tokens: Sequence[int], phrases: Sequence[Wanted]) -> int:
    """Return the token count of all met phrases, by longest spelling, plus that of the spelling begun furthest."""
    longest = [max(map(len, (*phrase.spellings, *phrase.opening))) for phrase in phrases]
    whole = sum(size for phrase, size in zip(phrases, longest, strict=True) if met(tokens, phrase))
    others = [spelling for phrase in phrases if not met(tokens, phrase) for spelling in spellings(tokens, phrase)]
    return whole + max((begun(tokens, spelling) for spelling in others), default=0)
