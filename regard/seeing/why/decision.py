"""One decision of a model as a function of its input vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.base.faults import Fault
from regard.seeing.gazes import Sight
from regard.viewing.sides import Side, Words

SHOWN_CLASSES = 20  # in a refusal


@dataclass(frozen=True)
class Question:
    """One decision: which units of the input made the model choose this output?

    Inputs and baseline are (unit, depth): the vectors of the units before anything reads them, and vectors that say
    nothing. `log_probability` maps (copies, unit, depth) to (copies,); it is differentiable and deterministic.
    """

    names: Sequence[str]  # of the units: tokens, facts, patches, frames, nodes
    chosen: str  # the output that is explained
    inputs: Tensor
    baseline: Tensor
    log_probability: Callable[[Tensor], Tensor]
    # The log-probability with these units taken out of the input itself; None if `inseparable` says why not.
    without: Callable[[Sequence[int]], float] | None
    side: Side | None = None  # the units as they are drawn
    text: str = ""  # the input for people
    output: str = ""  # the whole output for people
    see: Callable[[], Sight] | None = None  # watches the model while it decides
    queries: Sequence[int] | None = None  # the places in its gazes that look when it decides; None: all
    keys: Sequence[int] | None = None  # the places of the units in its gazes, if others precede them
    read: str = ""  # the text up to the decision, for models that write into it
    written: Sequence[int] = ()  # the tokens of the output, or the one that is explained, for models that write tokens
    choices: Words | None = None  # what a place or a word chooses from: tokens of the output, words, masks, items
    explained: Sequence[int] = ()  # places of those that are explained
    inseparable: str = ""  # a sentence that says why no unit can be taken out


def chosen_places(written: Words, place: int | None, word: str | None) -> list[int]:
    """Return the places of the tokens to explain: a place, all tokens of a word, or the last token before the end.

    That last token has a letter or a digit if any of them has: a full stop explains little. A word that occurs several
    times is the first of them, or the one at a place that is given too. `written` ends with the end token.
    """
    count = len(written.tokens)
    if place is not None and not 0 <= place < count:
        tokens = "1 token" if count == 1 else f"{count} tokens"
        raise Fault(f"The output has {tokens} with its end, so there is no token number {place + 1}.")
    if word is not None:
        found = [number for number, name in enumerate(written.words) if name == word]
        if not found:
            quoted = ", ".join(f"'{name}'" for name in written.words[:-1])
            raise Fault(f"The output has no word '{word[:60]}'; its words are {quoted}.")
        home = found[0]
        if place is not None and (home := written.places[place]) not in found:
            raise Fault(f"Token {place + 1} of the output belongs to '{written.words[home]}', not to '{word}'.")
        return [number for number, own in enumerate(written.places) if own == home]
    if place is not None:
        return [place]
    spelled = [number for number, token in enumerate(written.tokens[:-1]) if any(map(str.isalnum, token))]
    return [spelled[-1] if spelled else max(0, count - 2)]


def name_chosen(written: Words, places: Sequence[int], word: str | None) -> str:
    """Return the name of what is explained."""
    return word or " ".join(written.tokens[place] for place in places)


def units_left(units: Sequence[int], count: int) -> list[int]:
    """Return the units that stay when some of `count` are taken out; refuse to take out all."""
    left = [unit for unit in range(count) if unit not in set(units)]
    if not left:
        raise Fault("Taking out every unit leaves no input to read; keep at least one.")
    return left


def chosen_class(classes: Sequence[str], output: str | None, best: int) -> int:
    """Return the number of the class to explain: the given one, or the best."""
    if output is None:
        return best
    if output not in classes:
        names = ", ".join(classes[:SHOWN_CLASSES]) + (", …" if len(classes) > SHOWN_CLASSES else "")
        raise Fault(f"There is no class '{output[:60]}'; the classes are {names}.")
    return list(classes).index(output)


def refuse_place(place: int | None, word: str | None, what: str) -> None:
    """Refuse to choose a place in a single answer."""
    if place is not None or word is not None:
        raise Fault(f"This model gives {what}, which has no places to choose from; omit the place or word.")


def name_of_file(item: Any, otherwise: str) -> str:
    """Return the name of an input file for people, or another one for its content."""
    return Path(item).name if isinstance(item, str | Path) else otherwise
