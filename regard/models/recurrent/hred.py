"""A hierarchical encoder of dialogues: words become turns, turns become a dialogue, and a decoder writes the reply.

    u_n = last state of words(w_n1 … w_nm)    encoding of turn n by itself
    d_n = turns(d_{n−1}, u_n)                 state of the dialogue after it
    s_0 = tanh(W d_N)                         initial state of the decoder

HRED (Sordoni et al. 2015; for dialogues Serban et al. 2016). From the reply back to a turn n turns ago, a gradient
passes n steps of the upper layer, not all the words in between.

Departures: the decoder may also look at the turns, with Bahdanau's or Luong's attention, where each turn is d_n + u_n,
so that its own words reach the decoder directly; the word layer may be bidirectional.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor

from regard.attention.masks import real_places
from regard.models.bounds import MOST_LAYERS
from regard.models.recurrent.decoders import RecurrentMemory, unseen
from regard.models.recurrent.encoders import Encoder
from regard.models.recurrent.layers import Stack
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions

TURNS = "turns"  # the side that the decoder looks at
_OF_WORDS = ("copies", "ctc", "window")


class HredOptions(Seq2SeqOptions):
    """Options of a hierarchical encoder and its decoder; the encoder's layers are those over words."""

    turn_layers: int = Field(default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers over the turns.")

    @model_validator(mode="after")
    def _check_turns(self) -> "HredOptions":
        for name in _OF_WORDS:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} needs the places of words, but this decoder looks at turns")
        if self.encoder != "recurrent":
            raise ValueError(f"recurrent layers read words and turns, so encoder cannot be '{self.encoder}'")
        return self


class Turns(NamedTuple):
    """Places of the words of dialogues, with one row per turn."""

    words: Int[Tensor, "turn word"]  # places in the flattened dialogues; 0 after the end of a turn
    lengths: Int[Tensor, " turn"]  # words of each turn, on the host
    turns: Int[Tensor, "batch turn_of_it"]  # rows of `words`; 0 after the end of a dialogue
    counts: Int[Tensor, " batch"]  # turns of each dialogue, on the host


def split_turns(source: Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"], marks: Sequence[int]) -> Turns:
    """Split dialogues into turns, each of which begins with the tokens `marks`; text before the first is a turn too."""
    tokens, (rows, time) = source.cpu(), source.shape
    begins = torch.zeros(rows, time, dtype=torch.bool)
    begins[:, 0] = True
    if marks and time >= len(marks):
        begins[:, : time - len(marks) + 1] |= (tokens.unfold(1, len(marks), 1) == torch.tensor(marks)).all(-1)
    real = real_places(lengths.cpu(), time)
    counts = (begins & real).sum(1)
    turn_of = (begins.cumsum(1) - 1 + (counts.cumsum(0) - counts)[:, None])[real]
    turn_lengths = turn_of.bincount(minlength=int(counts.sum()))
    words = _table(real.flatten().nonzero()[:, 0], turn_lengths)
    turns = _table(torch.arange(len(turn_lengths)), counts)
    return Turns(words.to(source.device), turn_lengths, turns.to(source.device), counts)


def _table(values: Int[Tensor, " value"], counts: Int[Tensor, " row"]) -> Int[Tensor, "row column"]:
    """Arrange values in rows of `counts` each, padded with 0."""
    table = torch.zeros(len(counts), int(counts.max()), dtype=torch.long)
    table[real_places(counts, table.shape[1])] = values
    return table


class TurnEncoder(Encoder):
    """Encodes words to turns, by the layers of a text encoder, and turns to a dialogue."""

    def __init__(self, options: HredOptions) -> None:
        super().__init__(options)
        self.turns = Stack(
            options.cell,
            options.states_width,
            options.states_width,
            options.turn_layers,
            dropout=options.dropout,
            residual=options.residual,
        )

    def read_turns(
        self, embedded: Float[Tensor, "batch time depth"], turns: Turns
    ) -> tuple[Float[Tensor, "batch turn width"], Float[Tensor, "batch width"]]:
        """Return the sum of each turn's encoding and the state after it, and the last state of the dialogue."""
        turn_vectors = self.stack.last(embedded.flatten(0, 1)[turns.words], turns.lengths)[turns.turns]
        states, last = self.turns.read(turn_vectors, turns.counts)
        return turn_vectors + states, last

    def read_words(
        self, embedded: Float[Tensor, "batch time depth"], turns: Turns
    ) -> list[Float[Tensor, "batch time width"]]:
        """Return the states of every layer at the words, in the order of the dialogues."""
        real = real_places(turns.lengths, turns.words.shape[1])
        layers = []
        for states in self.stack.read_layers(embedded.flatten(0, 1)[turns.words], turns.lengths):
            flat = states.new_zeros(embedded.shape[0] * embedded.shape[1], states.shape[2])
            layers.append(flat.index_copy(0, turns.words[real], states[real]).unflatten(0, embedded.shape[:2]))
        return layers


class Hred(Seq2Seq):
    """A recurrent translator whose encoder reads turn by turn; a turn begins with the tokens `marks`."""

    reads_turns = True
    options: HredOptions
    encoder: TurnEncoder

    def __init__(self, options: HredOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int) -> None:
        super().__init__(options, source_tokens, target_tokens, shared, pad)
        self.encoder = TurnEncoder(options)
        if self.decoder.look is not None:
            self.decoder.look.looks_at = TURNS

    def turns_of(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> dict[str, Turns]:
        return {TURNS: split_turns(source, lengths, self.marks)}

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> RecurrentMemory:
        """Encode each dialogue for the decoder: its last state, and its turns."""
        turns = split_turns(source, lengths, self.marks)
        states, last = self.encoder.read_turns(self.dropout(self.source_embedding(source)), turns)
        return unseen(last) if self.decoder.look is None else self._remember(self.dropout(states), turns.counts, last)

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return the vectors of each source token within its turn: its embedding, then the states of every layer."""
        embedded, turns = self.source_embedding(source), split_turns(source, lengths, self.marks)
        return [embedded, *self.encoder.read_words(self.dropout(embedded), turns)]
