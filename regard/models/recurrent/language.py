"""A recurrent language model: predicts the next token from a state that summarises everything read before.

h_t = layers(E[x_t], h_{t−1}),   p(x_{t+1} | x_1 … x_t) = softmax(V h_t + b)

Mikolov et al. 2010 with vanilla cells; Zaremba et al. 2014 with LSTMs and dropout between them; Merity et al. 2018
(AWD-LSTM) with locked dropout, whole words dropped, weights dropped, and V = E (Press and Wolf 2017; Inan et al. 2017).
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST
from regard.models.cell_names import CellName
from regard.models.language import NEVER, Memory, Reading
from regard.models.recurrent.dropout import LockedDropout, drop_words
from regard.models.recurrent.layers import GATES, Stack

_PARTS = ("hidden", "cell")  # tensors that a layer remembers, in the order of `layers.Hidden`


class RecurrentLanguageOptions(Options):
    """Options of a recurrent language model."""

    cell: CellName = Field(default="lstm", description="Recurrent cell of all layers.")
    layers: int = Field(default=2, ge=1, le=MOST_LAYERS, description="Number of recurrent layers.")
    embedding: int = Field(default=256, ge=1, le=WIDEST, description="Width of the token embeddings.")
    width: int = Field(default=256, ge=1, le=WIDEST, description="Width of the states.")
    tied: bool = Field(
        default=False, description="Use one matrix for embeddings and output layer; the last layer gets their width."
    )
    uniform: float | None = Field(
        default=None,
        gt=0,
        le=10,
        description="Draw all initial weights uniformly from minus this to this; by default embeddings and output "
        "layer from ±0.1, and layers from ±1/√width.",
    )
    locked: bool = Field(
        default=True, description="Use one dropout mask for all time steps of a batch; otherwise a new one for each."
    )
    input_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout on the input embeddings.")
    layer_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout between layers.")
    output_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout on the states of the last layer.")
    embedding_dropout: float = Field(
        default=0.0, ge=0, lt=1, description="Share of all words whose embeddings are zero for a whole batch."
    )
    weight_drop: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the state-to-state weights that are zero for a whole batch.",
    )

    @model_validator(mode="before")
    @classmethod
    def _reads_one_way(cls, table: Any) -> Any:
        if isinstance(table, dict) and table.get("bidirectional"):
            raise ValueError(
                "bidirectional is not for this family: a model that reads what follows a place cannot predict it; "
                "family = 'bilm' reads both ways, for word vectors"
            )
        return table

    @model_validator(mode="after")
    def _check_effect(self) -> "RecurrentLanguageOptions":
        if self.layer_dropout and self.layers == 1:
            raise ValueError("layer_dropout applies between layers, but there is only one")
        return self

    @property
    def widths(self) -> list[int]:
        """Width of each layer."""
        return [*[self.width] * (self.layers - 1), self.embedding if self.tied else self.width]


class RecurrentLanguage(nn.Module):
    """Embeddings, recurrent layers and an output layer; tokens in `never` have no probability."""

    carries, has_caches = True, False
    context, overlap, stops_when_full = None, 0, False

    def __init__(self, options: RecurrentLanguageOptions, tokens: int, never: Sequence[int] = ()) -> None:
        super().__init__()
        self.options, self.never = options, tuple(never)
        self.embeddings = nn.Parameter(torch.empty(tokens, options.embedding))
        self.input_dropout = _dropout(options.input_dropout, options.locked)
        self.stack = Stack(
            options.cell,
            options.embedding,
            options.width,
            options.layers,
            dropout=options.layer_dropout,
            locked=options.locked,
            weight_drop=options.weight_drop,
            last_width=options.widths[-1],
            orthogonal=False,
        )
        self.output_dropout = _dropout(options.output_dropout, options.locked)
        self.output = self.embeddings if options.tied else nn.Parameter(torch.empty(tokens, options.widths[-1]))
        self.bias = nn.Parameter(torch.zeros(tokens))
        self._draw_weights()

    def _draw_weights(self) -> None:
        uniform = self.options.uniform
        for weight in (self.embeddings, self.output) if uniform is None else self.parameters():
            nn.init.uniform_(weight, -(uniform or 0.1), uniform or 0.1)

    @property
    def output_vectors(self) -> Float[Tensor, "token width"]:
        return self.output

    @property
    def output_biases(self) -> Float[Tensor, " token"]:
        barred = torch.zeros_like(self.bias)
        for token in self.never:
            barred.narrow(0, token, 1).fill_(NEVER)  # an index would copy from the host, which a CUDA graph cannot do
        return self.bias + barred

    def begin(self, rows: int) -> Memory:
        parts = _PARTS if self.options.cell == "lstm" else _PARTS[:1]
        return {
            _name(layer, part): self.bias.new_zeros(rows, width)
            for layer, width in enumerate(self.options.widths)
            for part in parts
        }

    def join(self, memories: Sequence[Memory]) -> Memory:
        return {name: torch.cat([memory[name] for memory in memories]) for name in memories[0]}

    def forgotten(self, read: int) -> int:
        return 0  # nothing is forgotten by rule; the layers learn what to forget

    def read(self, tokens: Int[Tensor, "row time"], memory: Memory) -> Reading:
        share = self.options.embedding_dropout if self.training else 0.0
        embeddings = drop_words(self.embeddings, share) if share else self.embeddings
        before = [
            tuple(memory[_name(layer, part)] for part in _PARTS if _name(layer, part) in memory)
            for layer in range(self.options.layers)
        ]
        states, after = self.stack(self.input_dropout(F.embedding(tokens, embeddings)), before)
        remembered = {
            _name(layer, part): tensor
            for layer, hidden in enumerate(after)
            for part, tensor in zip(_PARTS, hidden, strict=False)
        }
        return Reading(self.output_dropout(states), states, remembered)

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return V h + b, with −∞ for tokens that are never written."""
        logits = F.linear(states, self.output, self.bias)
        for token in self.never:
            logits[..., token] = -torch.inf
        return logits

    def cross_entropy(
        self, states: Float[Tensor, "row time width"], wanted: Int[Tensor, "row time"]
    ) -> Float[Tensor, ""]:
        return F.cross_entropy(self.logits(states).flatten(0, 1), wanted.flatten(), reduction="sum")

    def layers(self, tokens: Int[Tensor, "row time"]) -> list[Float[Tensor, "row time width"]]:
        """Return an empty list: it gives no vectors of tokens."""
        return []

    def multiplications(self, size: int) -> int:
        gates, options = GATES[self.options.cell], self.options
        befores = [options.embedding, *options.widths]
        inside = sum(gates * width * (width + before) for before, width in zip(befores, options.widths, strict=False))
        return size * (inside + self.output.numel())


def _dropout(share: float, locked: bool) -> nn.Module:
    return LockedDropout(share) if locked else nn.Dropout(share)


def _name(layer: int, part: str) -> str:
    return f"layer{layer + 1}.{part}"
