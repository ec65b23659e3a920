"""What a translator that reads dialogues turn by turn needs of its tokeniser, and its turns as people see them.

A network says by its methods that it reads turns; of any other nothing is asked, and it has no such side.
"""

from typing import Any, ClassVar, Protocol, runtime_checkable

from torch import Tensor

from regard.base.faults import Fault
from regard.data.corpora.turns import DASH
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.tasks.translation.batches import PairBatch
from regard.viewing.sides import Side, Words


@runtime_checkable
class ReadsTurns(Protocol):
    """Splits sources into turns, each begun by the tokens `marks`, and may look at them as a side of their own."""

    turn_side: ClassVar[str]  # the name of that side
    marks: tuple[int, ...]

    def turns_of(self, source: Tensor, lengths: Tensor) -> Any: ...


def mark_turns(network: object, tokeniser: Tokeniser) -> None:
    """Tell a network that reads turns with which tokens each begins."""
    if isinstance(network, ReadsTurns):
        network.marks = turn_marks(tokeniser)


def turn_marks(tokeniser: Tokeniser) -> tuple[int, ...]:
    """The tokens of the dash that each turn begins with."""
    marks = tuple(tokeniser.encode(DASH))
    if not marks or tokeniser.unknown in marks:
        raise Fault(f"The tokeniser has no token for '{DASH}', with which every turn of a dialogue begins.")
    return marks


def turn_sides(network: object, tokeniser: Tokeniser, batch: PairBatch) -> dict[str, Side]:
    """The turns of the one dialogue of a batch, each as a word of its own, where the network reads them."""
    if not isinstance(network, ReadsTurns):
        return {}
    turns = network.turns_of(batch.source, batch.source_lengths)
    rows = zip(turns.words.tolist(), turns.lengths.tolist(), strict=True)
    tokens = batch.source[0].tolist()
    texts = [tokeniser.decode([tokens[place] for place in places[:length]]) for places, length in rows]
    return {network.turn_side: Words(texts, texts, range(len(texts)))}


def turn_extents(network: object, batch: PairBatch) -> dict[str, Tensor]:
    """How many turns each dialogue of a batch has, where the network reads them."""
    if not isinstance(network, ReadsTurns):
        return {}
    return {network.turn_side: network.turns_of(batch.source, batch.source_lengths).counts}


def refuse_turns(network: object) -> None:
    """Refuse to follow one line of words through a network that reads turns."""
    if isinstance(network, ReadsTurns):
        raise Fault("This model reads the turns of a dialogue one by one, and has no single line of words to follow.")
