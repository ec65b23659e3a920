"""Texts as tokens for a translator; refuse those too long for the model or impossible to write."""

from regard.base.faults import Fault, TooLong
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.tasks.translation.task import Translation


def check_length(task: Translation, text: str, number: int) -> int:
    """Return the number of tokens of a sentence with its end, or refuse it as too long."""
    return len(task.source_tokens({number: text})[number]) + 1


def check_target(task: Translation, text: str, number: int) -> int:
    """Return the number of tokens of a forced translation, or refuse it as too long."""
    length, longest = len(task.target.encode(text)) + 1, task.model.options.longest
    if length > longest:
        raise TooLong(number, f"its translation has {length} tokens, but the model takes {longest} at most.")
    return length


def target_tokens(task: Translation, text: str, what: str, tokeniser: Tokeniser | None = None) -> list[int]:
    """Return the tokens that an output must have; `what` names them in a refusal.

    `tokeniser` is that of the output for its source, if it may copy words.
    """
    target, longest = tokeniser or task.target, task.model.options.longest
    tokens = target.encode(text)
    if target.unknown in tokens:
        unknown = next((word for word in text.split() if target.unknown in target.encode(word)), text)
        raise Fault(f"The {what} has {unknown!r}, for which this model has no tokens; use words that it can write.")
    if len(tokens) + 1 > longest:
        raise Fault(f"The {what} has {len(tokens)} tokens, but an output has {longest - 1} at most; shorten it.")
    return tokens
