"""Two language models over the same words, one reading forward and one backward.

    p(x_1 … x_n) = Π p(x_k | x_1 … x_{k−1})    and    p(x_1 … x_n) = Π p(x_k | x_{k+1} … x_n)

Both share the word vectors and the output layer, and each has its own recurrent layers; the loss is the sum of −log p
in both directions (Peters et al. 2018, ELMo, equation 1). The vector of a word in layer j is [h→_j ; h←_j], the states
of the two after reading it, so together they cover the whole sentence.

Departures from the paper: every word has its own vector, not made of its letters; states are not projected to a smaller
width; and the backward model reads the reversed sentence with the same marks at its ends, so both halves work alike.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST
from regard.models.cell_names import CellName
from regard.models.parts import Embedding
from regard.models.recurrent.layers import Stack


class BilmOptions(Options):
    """Options of two language models over the same words."""

    cell: CellName = Field(default="lstm", description="Recurrent cell of all layers.")
    layers: int = Field(default=2, ge=1, le=MOST_LAYERS, description="Recurrent layers of each direction.")
    embedding: int = Field(default=256, ge=1, le=WIDEST, description="Width of the word vectors.")
    width: int = Field(default=512, ge=1, le=WIDEST, description="Width of the states of each of the two directions.")
    residual: bool = Field(default=True, description="Residual connections around all layers but the first.")
    tied: bool = Field(default=False, description="Use one matrix for word vectors and output layer.")
    dropout: float = Field(
        default=0.1, ge=0, lt=1, description="Dropout on word vectors, between layers and on the last states."
    )

    @model_validator(mode="after")
    def _check(self) -> "BilmOptions":
        if self.tied and self.embedding != self.width:
            raise ValueError(f"tied needs embedding and width to be equal, not {self.embedding} and {self.width}")
        return self


class BothWays(NamedTuple):
    """The last states of the two models at each place, and the tokens predicted from them.

    A row of n tokens has n + 1 places, the first before any token; padding follows.
    """

    states: Float[Tensor, "2 batch place width"]
    wanted: Int[Tensor, "2 batch place"]


class Bilm(nn.Module):
    """Network from tokens to states of both directions; rows come without begin and end marks, which it adds."""

    def __init__(self, options: BilmOptions, tokens: int, pad: int, begin: int, end: int) -> None:
        super().__init__()
        self.options, self.pad, self.begin, self.end = options, pad, begin, end
        self.embedding = Embedding(tokens, options.embedding, pad)
        self.forwards, self.backwards = _stack(options), _stack(options)
        self.dropout = nn.Dropout(options.dropout)
        self.output = nn.Linear(options.width, tokens, bias=False)
        nn.init.normal_(self.output.weight, std=options.width**-0.5)
        if options.tied:
            self.output.weight = self.embedding.weight

    def read(self, tokens: Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"]) -> BothWays:
        """Read each row forward, and reversed."""
        states, wanted = [], []
        for stack, row in ((self.forwards, tokens), (self.backwards, turn_round(tokens, lengths))):
            outputs, _ = stack(self._inputs(row))  # padding comes last, and no real place follows it
            states.append(self.dropout(outputs))
            wanted.append(self._with_end(row, lengths))
        return BothWays(torch.stack(states), torch.stack(wanted))

    def layers(self, tokens: Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return the word vectors, then both models' states side by side after each word (batch, time, 2 · width)."""
        directions = []
        for stack, row in ((self.forwards, tokens), (self.backwards, turn_round(tokens, lengths))):
            directions.append([states[:, 1:] for states in stack.read_layers(self._inputs(row), lengths + 1)])
        forward, backward = directions
        both = [torch.cat([a, turn_round(b, lengths)], dim=-1) for a, b in zip(forward, backward, strict=True)]
        return [self.embedding(tokens), *both]

    def _inputs(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch place depth"]:
        marked = torch.cat([tokens.new_full((len(tokens), 1), self.begin), tokens], dim=1)
        return self.dropout(self.embedding(marked))

    def _with_end(
        self, tokens: Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"]
    ) -> Int[Tensor, "batch place"]:
        """Return the token that follows each place; the last is the end."""
        behind = torch.cat([tokens, tokens.new_full((len(tokens), 1), self.pad)], dim=1)
        return behind.scatter(1, lengths.to(tokens.device)[:, None], self.end)

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the score of every token at every place."""
        return self.output(states)

    def multiplications(self) -> int:
        """Return the multiplications for reading a token and predicting it in both directions."""
        inside = sum(parameter.numel() for parameter in (*self.forwards.parameters(), *self.backwards.parameters()))
        return inside + 2 * self.output.weight.numel()


def turn_round(rows: Tensor, lengths: Int[Tensor, " batch"]) -> Tensor:
    """Reverse each row (batch, time, …) within its length; padding stays in place."""
    places, ends = torch.arange(rows.shape[1], device=rows.device), lengths.to(rows.device)[:, None]
    order = torch.where(places < ends, ends - 1 - places, places)
    return rows[torch.arange(len(rows), device=rows.device)[:, None], order]


def _stack(options: BilmOptions) -> Stack:
    return Stack(
        options.cell,
        options.embedding,
        options.width,
        options.layers,
        dropout=options.dropout,
        residual=options.residual,
    )
