"""A recurrent network over words: any cell, in one or two directions, pooled with or without attention.

For questions about an aspect of a text, the aspect may join every input and guide the attention (Wang et al. 2016,
ATAE-LSTM), or the text may be read up to it from both ends (Tang et al. 2016, TD-LSTM; with the aspect next to every
input, TC-LSTM).
"""

from typing import Literal

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST
from regard.models.cell_names import CellName
from regard.models.recurrent.layers import Stack
from regard.models.text.pooling import POOLS, AttentionPooling, PoolingScore
from regard.models.text.reader import OrderedReader
from regard.models.text.texts import InputTokens, TextRows, aspect_ends, mean_over_time, nearness
from regard.models.text.word_inputs import InputOptions, WordInputs


class RnnOptions(Options):
    """A recurrent network over words, and how its states become one vector."""

    inputs: InputOptions = Field(InputOptions(), description="The word vectors it reads.")
    cell: CellName = Field("lstm", description="Recurrent cell.")
    width: int = Field(200, ge=1, le=WIDEST, description="Width of a layer, both directions together.")
    layers: int = Field(1, ge=1, le=MOST_LAYERS, description="Number of layers.")
    bidirectional: bool = Field(True, description="Read each text in both directions.")
    dropout: float = Field(0.5, ge=0, lt=1, description="Dropout between layers and on outputs.")
    pooling: Literal["attention", "mean", "max", "last", "aspect"] = Field(
        "attention",
        description="How the states of a text become one vector for classification; aspect takes the forward state at "
        "the aspect's last word and the backward state at its first.",
    )
    score: PoolingScore = Field("additive", description="Score of attention pooling.")
    aspect: Literal["ignored", "place", "query", "inputs", "both"] = Field(
        "ignored",
        description="What the network gets of an aspect: nothing, only its place, or also its vector as the "
        "attention's query, next to every input, or both.",
    )
    near: float = Field(
        0.0,
        ge=0,
        description="States count less with distance from the aspect, by exp(−d² / (2 near²)) for d words; 0: equally.",
    )

    @model_validator(mode="after")
    def _check(self) -> "RnnOptions":
        if self.bidirectional and self.width % 2:
            raise ValueError(f"width {self.width} is odd, but two directions share it evenly")
        if self.asks_by_aspect and self.pooling != "attention":
            raise ValueError(f"aspect = '{self.aspect}' guides pooling with attention, but pooling is '{self.pooling}'")
        return self

    @model_validator(mode="after")
    def _check_place(self) -> "RnnOptions":
        if self.near and self.pooling in ("last", "aspect"):
            raise ValueError(f"near weights the states of all words, but pooling = '{self.pooling}' takes only an end")
        uses_place = self.pooling == "aspect" or self.near > 0
        if uses_place and self.aspect == "ignored":
            raise ValueError("pooling = 'aspect' and near need the place of the aspect; set aspect to 'place' or more")
        if self.aspect == "place" and not uses_place:
            raise ValueError("aspect = 'place' does nothing unless pooling is 'aspect' or near is above 0")
        return self

    @property
    def asks_by_aspect(self) -> bool:
        """True if the aspect is the query of the attention."""
        return self.aspect in ("query", "both")

    @property
    def reads_aspect(self) -> bool:
        """True if the aspect is appended to every input."""
        return self.aspect in ("inputs", "both")


class RecurrentReader(OrderedReader):
    """States for the words of a text, `width` wide; with `pools`, also one vector for the whole."""

    inputs: WordInputs

    def __init__(self, options: RnnOptions, vocabulary: InputTokens, pools: bool = True) -> None:
        super().__init__()
        self.options, self.width = options, options.width
        self.inputs = WordInputs(options.inputs, vocabulary)
        depth = self.inputs.width * (2 if options.reads_aspect else 1) + vocabulary.beside
        self.stack = Stack(
            options.cell,
            depth,
            options.width,
            options.layers,
            dropout=options.dropout,
            bidirectional=options.bidirectional,
        )
        self.dropout = nn.Dropout(options.dropout)
        query = self.inputs.width if options.asks_by_aspect else None
        attends = pools and options.pooling == "attention"
        self.pooling = AttentionPooling(options.width, options.score, query) if attends else None

    def states(self, texts: TextRows) -> Float[Tensor, "batch time width"]:
        """Return the state at each word; after the end of a text there are zeros."""
        return self.dropout(self._read(texts)[0])

    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """Return one vector for each text."""
        states, last = self._read(texts)
        if self.options.pooling == "last":
            return self.dropout(last)
        if self.options.pooling == "aspect":
            return self.dropout(self._at_aspect(states, texts))
        if self.options.near:
            states = states * nearness(texts, states.shape[1], self.options.near)[..., None]
        if self.pooling is None:
            return self.dropout(POOLS[self.options.pooling](states, texts.lengths))
        query = self._aspects(texts) if self.options.asks_by_aspect else None
        return self.dropout(self.pooling(states, texts.lengths, query))

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        vectors = self.inputs(texts.tokens, texts.beside)
        return [vectors, *self.stack.read_layers(self._with_aspect(vectors, texts), texts.lengths)]

    def _read(self, texts: TextRows) -> tuple[Float[Tensor, "batch time width"], Float[Tensor, "batch width"]]:
        vectors = self.inputs(texts.tokens, texts.beside)
        return self.stack.read(self._with_aspect(vectors, texts), texts.lengths)

    def _with_aspect(self, vectors: Float[Tensor, "batch time depth"], texts: TextRows) -> Tensor:
        """Append the aspect's vector to each word vector, if it is read with them."""
        if not self.options.reads_aspect:
            return vectors
        return torch.cat([vectors, self._aspects(texts)[:, None].expand(-1, vectors.shape[1], -1)], dim=-1)

    def _at_aspect(self, states: Float[Tensor, "batch time width"], texts: TextRows) -> Float[Tensor, "batch width"]:
        """Return the forward state at the aspect's last word and the backward one at its first (Tang et al. 2016)."""
        first, last = aspect_ends(texts)
        rows = torch.arange(len(states), device=states.device)
        if not self.options.bidirectional:
            return states[rows, last]
        forward, backward = states.chunk(2, dim=-1)
        return torch.cat([forward[rows, last], backward[rows, first]], dim=-1)

    def _aspects(self, texts: TextRows) -> Float[Tensor, "batch depth"]:
        """Return the mean of the vectors of an aspect's words."""
        assert texts.aspects is not None
        assert texts.aspect_lengths is not None
        return mean_over_time(self.inputs(texts.aspects), texts.aspect_lengths)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading a text of `length` words and pooling it."""
        return length * self.matrices()
