"""The encoder of a Transformer over words (Vaswani et al. 2017, section 3.1), trained from scratch on a task.

Departures: pretrained vectors of any width are projected to its own width, every input is normalised before its
position is added, and by default the norm is before each sublayer, so that small encoders learn without warm-up.
"""

from typing import Literal

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Lengths
from regard.attention.heads import MultiHead
from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.text.pooling import POOLS, AttentionPooling, PoolingScore
from regard.models.text.reader import OrderedReader
from regard.models.text.texts import InputTokens, TextRows
from regard.models.text.word_inputs import InputOptions, WordInputs
from regard.models.transformer.encoder_blocks import block_options
from regard.models.transformer.network import EncoderBlock, places_of
from regard.models.transformer.options import TransformerOptions

FIRST = "[first]"  # name of the token before a text, as shown to users


class EncoderOptions(Options):
    """A Transformer encoder over words, and how its states become one vector."""

    inputs: InputOptions = Field(InputOptions(), description="The word vectors it reads.")
    width: int = Field(128, ge=2, le=WIDEST, description="Width of the states between the blocks.")
    layers: int = Field(2, ge=1, le=MOST_LAYERS, description="Number of blocks.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each block.")
    feed_forward: int = Field(256, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on inputs, sublayers and outputs.")
    norm: Literal["before", "after"] = Field("before", description="Layer norm before each sublayer, or after it.")
    positions: Literal["sinusoidal", "learned", "rotary", "alibi", "none"] = Field(
        "sinusoidal", description="Position encoding."
    )
    longest: int = Field(4096, ge=1, le=LONGEST, description="Longest text in tokens.")
    pooling: Literal["mean", "max", "attention", "first"] = Field(
        "mean",
        description="How the states of a text become one vector for classification; first is the state of an extra "
        "token before the text ([CLS]).",
    )
    score: PoolingScore = Field("additive", description="Score of attention pooling.")

    @model_validator(mode="after")
    def _check(self) -> "EncoderOptions":
        self.of_blocks()
        return self

    def of_blocks(self) -> TransformerOptions:
        """Return the options of its blocks, which are Transformer blocks."""
        return block_options(self, norm=self.norm, positions=self.positions)


class EncoderReader(OrderedReader):
    """States for the words of a text, `width` wide; with `pools`, also one vector for the whole."""

    inputs: WordInputs

    def __init__(self, options: EncoderOptions, vocabulary: InputTokens, pools: bool = True) -> None:
        super().__init__()
        self.options, self.width = options, options.width
        of_blocks = options.of_blocks()
        self.inputs = WordInputs(options.inputs, vocabulary)
        depth = self.inputs.width + vocabulary.beside
        self.enter = nn.Sequential(nn.Linear(depth, options.width), nn.LayerNorm(options.width))
        self.places = places_of(of_blocks)
        self.dropout = nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(of_blocks) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width) if options.norm == "before" else nn.Identity()
        begins = pools and options.pooling == "first"
        self.first = nn.Parameter(torch.empty(options.width)) if begins else None
        if self.first is not None:
            nn.init.normal_(self.first)
        attends = pools and options.pooling == "attention"
        self.pooling = AttentionPooling(options.width, options.score) if attends else None

    def states(self, texts: TextRows) -> Float[Tensor, "batch place width"]:
        """Return the state at each word, after that of the first token, if there is one."""
        return self.dropout(self._read(self.inputs(texts.tokens, texts.beside), texts)[-1])

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        vectors = self.inputs(texts.tokens, texts.beside)
        before = 0 if self.first is None else 1
        return [vectors, *(states[:, before:] for states in self._read(vectors, texts))]

    def _read(
        self, vectors: Float[Tensor, "batch time depth"], texts: TextRows
    ) -> list[Float[Tensor, "batch place width"]]:
        """Return the output of every block for the word vectors, after the first token if there is one."""
        states, lengths = self.enter(vectors), texts.lengths
        if self.first is not None:
            states = torch.cat([self.first.expand(len(states), 1, -1), states], dim=1)
            lengths = lengths + 1
        states, layers = self.dropout(self.places(states)), []
        for block in self.blocks:
            states = block(states, Lengths(lengths))
            layers.append(states)
        return [*layers[:-1], self.norm(states)]

    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """Return one vector for each text."""
        states = self.states(texts)
        if self.first is not None:
            return states[:, 0]
        if self.pooling is not None:
            return self.pooling(states, texts.lengths)
        return POOLS[self.options.pooling](states, texts.lengths)

    @property
    def around(self) -> tuple[list[str], list[str]]:
        return ([] if self.first is None else [FIRST]), []

    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading a text of `length` words and pooling it."""
        looking = sum(part.multiplications(length) for part in self.modules() if isinstance(part, MultiHead))
        return length * self.matrices() + looking
