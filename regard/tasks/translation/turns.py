"""What a translator that reads dialogues turn by turn needs of its tokeniser, and its turns as people see them."""

from regard.base.faults import Fault
from regard.data.corpora.turns import DASH
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.recurrent.hred import TURNS, Hred
from regard.tasks.translation.batches import PairBatch
from regard.viewing.sides import Side, Words


def turn_marks(tokeniser: Tokeniser) -> tuple[int, ...]:
    """The tokens of the dash that each turn begins with."""
    marks = tuple(tokeniser.encode(DASH))
    if not marks or tokeniser.unknown in marks:
        raise Fault(f"The tokeniser has no token for '{DASH}', with which every turn of a dialogue begins.")
    return marks


def turn_sides(network: Hred, tokeniser: Tokeniser, batch: PairBatch) -> dict[str, Side]:
    """The turns of the one dialogue of a batch, each as a word of its own."""
    turns = network.turns_of(batch.source, batch.source_lengths)
    rows = zip(turns.words.tolist(), turns.lengths.tolist(), strict=True)
    tokens = batch.source[0].tolist()
    texts = [tokeniser.decode([tokens[place] for place in places[:length]]) for places, length in rows]
    return {TURNS: Words(texts, texts, range(len(texts)))}
