"""Turns of dialogues: the tokens that begin one, and turns as people see them.

Each network says which turns it reads (`regard/models/translator.py`); most read none.
"""

from torch import Tensor

from regard.base.faults import Fault
from regard.data.corpora.turns import DASH
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.tasks.translation.batches import PairBatch, TranslationNetwork
from regard.viewing.sides import Side, Words


def mark_turns(network: TranslationNetwork, tokeniser: Tokeniser) -> None:
    """Tell a network that reads turns with which tokens each begins."""
    if network.reads_turns:
        network.marks = turn_marks(tokeniser)


def turn_marks(tokeniser: Tokeniser) -> tuple[int, ...]:
    """Return the tokens of the dash that each turn begins with."""
    marks = tuple(tokeniser.encode(DASH))
    if not marks or tokeniser.unknown in marks:
        raise Fault(f"The tokeniser has no token for '{DASH}', with which every turn of a dialogue begins.")
    return marks


def turn_sides(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> dict[str, Side]:
    """Return the turns of the one dialogue of a batch, each as a word of its own, where the network reads them."""
    tokens, sides = batch.source[0].tolist(), dict[str, Side]()
    for name, turns in network.turns_of(batch.source, batch.source_lengths).items():
        rows = zip(turns.words.tolist(), turns.lengths.tolist(), strict=True)
        texts = [tokeniser.decode([tokens[place] for place in places[:length]]) for places, length in rows]
        sides[name] = Words(texts, texts, range(len(texts)))
    return sides


def turn_extents(network: TranslationNetwork, batch: PairBatch) -> dict[str, Tensor]:
    """Return how many turns each dialogue of a batch has, where the network reads them."""
    return {name: turns.counts for name, turns in network.turns_of(batch.source, batch.source_lengths).items()}


def refuse_turns(network: TranslationNetwork) -> None:
    """Refuse to follow one line of words through a network that reads turns."""
    if network.reads_turns:
        raise Fault("This model reads the turns of a dialogue one by one, and has no single line of words to follow.")
