"""Which verb to use instead of one that a model does not have, and the sentences that say so; no torch."""

from collections.abc import Sequence

_OUTPUT = ("translate", "generate", "caption", "transcribe", "answer", "speak", "draw")
_VECTORS = ("embed", "neighbours", "analogy", "map")
_LOOKING = ("look", "attention", "next", "beam", "heads")
# Verbs that people use for the same purpose, the likelier first; some of them are addresses of the server alone.
PURPOSES = (_OUTPUT, _VECTORS, _LOOKING)
COMMAND, METHOD, ADDRESS = "`regard {}`", "`model.{}`", "/v1/{}"  # ways to ask for a verb


def refusal(gives: str, verb: str, verbs: Sequence[str], own: str, way: str) -> str:
    """Return the sentences that refuse a verb: what the model gives, the verb to use instead, and all its verbs."""
    instead = verb_instead(verb, verbs, own)
    if instead is None:
        return f"{gives}; it can {', '.join(verbs)}."
    return f"{gives}; use {way.format(instead)}. It can {', '.join(verbs)}."


def verb_instead(verb: str, verbs: Sequence[str], own: str) -> str | None:
    """Return a verb of the model that serves the purpose of another, or else its own; None where nothing does."""
    purpose = next((purpose for purpose in PURPOSES if verb in purpose), _LOOKING)
    same = next((each for each in purpose if each in verbs), None)
    return same or (own if purpose is not _LOOKING and own in verbs else None)
