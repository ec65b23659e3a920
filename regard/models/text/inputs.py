"""From tokens to vectors: drawn at random and learnt, ready ones kept or tuned, or both side by side."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.text.texts import Vocabulary


class InputOptions(Options):
    """The vectors of the words that a network reads."""

    vectors: Literal["random", "frozen", "tuned", "both"] = Field(
        "random",
        description="Where the vectors of words come from: drawn at random and learnt, or those of data.vectors, "
        "frozen, tuned, or both side by side (Kim 2014).",
    )
    width: int = Field(100, ge=1, le=WIDEST, description="Width of random vectors; ready ones bring their own.")
    word_dropout: float = Field(0.0, ge=0, lt=1, description="Share of words that are read as unknown while training.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the vectors.")


class WordInputs(nn.Module):
    """A vector for each token, `width` wide.

    Words of the vocabulary that have no ready vector begin with one drawn with the variance of those that have.
    """

    def __init__(self, options: InputOptions, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.options, self.pad, self.unknown = options, vocabulary.pad, vocabulary.unknown
        if options.vectors != "random" and vocabulary.vector_width is None:
            raise ValueError(f"vectors that are {options.vectors} are ready ones, and none were given")
        width = options.width if options.vectors == "random" else vocabulary.vector_width or 0
        learns = [False, True] if options.vectors == "both" else [options.vectors != "frozen"]
        self.tables = nn.ParameterList(
            nn.Parameter(torch.empty(vocabulary.size, width), requires_grad=each) for each in learns
        )
        for table in self.tables:
            nn.init.normal_(table, std=width**-0.5)
        self.dropout = nn.Dropout(options.dropout)
        self.width = width * len(self.tables)

    @torch.no_grad()
    def take_vectors(self, vectors: Float[Tensor, "token width"], is_known: Bool[Tensor, " token"]) -> None:
        """Begin with ready vectors, of the tokens of which they are known."""
        if self.options.vectors == "random":
            return
        spread = vectors[is_known].std(correction=0) if is_known.any() else torch.tensor(1.0)
        drawn = torch.randn_like(vectors) * spread
        for table in self.tables:
            table.copy_(torch.where(is_known[:, None], vectors, drawn))

    def forward(
        self, tokens: Int[Tensor, "batch time"], beside: Float[Tensor, "batch time beside"] | None = None
    ) -> Float[Tensor, "batch time depth"]:
        """The vectors of tokens, and next to each what is given beside it."""
        if self.training and self.options.word_dropout:
            is_dropped = torch.rand(tokens.shape, device=tokens.device) < self.options.word_dropout
            tokens = tokens.masked_fill(is_dropped & (tokens != self.pad), self.unknown)
        found = [F.embedding(tokens, table, padding_idx=self.pad) for table in self.tables]
        return self.dropout(torch.cat([*found, *([] if beside is None else [beside])], dim=-1))
