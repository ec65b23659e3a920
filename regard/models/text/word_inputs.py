"""From tokens to vectors: random and learnt, ready ones kept or tuned, or both; and features of language models."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.text.contexts import ContextVectors
from regard.models.text.texts import InputTokens

# Which tables of vectors each kind has, and whether they learn.
_LEARNS = {"random": (True,), "frozen": (False,), "tuned": (True,), "both": (False, True), "none": ()}


class InputOptions(Options):
    """The vectors of the words that a network reads."""

    vectors: Literal["random", "frozen", "tuned", "both", "none"] = Field(
        "random",
        description="Where the vectors of words come from: drawn at random and learnt, or those of data.vectors, "
        "frozen, tuned, or both side by side (Kim 2014); none where the features of data.contexts are all.",
    )
    width: int = Field(100, ge=1, le=WIDEST, description="Width of random vectors; ready ones bring their own.")
    word_dropout: float = Field(0.0, ge=0, lt=1, description="Share of words that are read as unknown while training.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the vectors.")


class WordInputs(nn.Module):
    """A vector for each token, `width` wide.

    Words of the vocabulary that have no ready vector begin with one drawn with the variance of those that have.
    """

    def __init__(self, options: InputOptions, vocabulary: InputTokens) -> None:
        super().__init__()
        self.options, self.pad, self.unknown = options, vocabulary.pad, vocabulary.unknown
        if self.wants_ready and vocabulary.vector_width is None:
            raise ValueError(f"vectors that are {options.vectors} are ready ones, and none were given")
        width = vocabulary.vector_width if self.wants_ready else options.width
        self.tables = nn.ParameterList(
            nn.Parameter(torch.empty(vocabulary.size, width or 0), requires_grad=learns)
            for learns in _LEARNS[options.vectors]
        )
        for table in self.tables:
            nn.init.normal_(table, std=table.shape[1] ** -0.5)
        self.contexts = None if vocabulary.contexts is None else ContextVectors(vocabulary.contexts)
        self.dropout = nn.Dropout(options.dropout)
        self.width = sum(table.shape[1] for table in self.tables) + (self.contexts.width if self.contexts else 0)

    @property
    def wants_ready(self) -> bool:
        """True if it begins with pretrained vectors."""
        return self.options.vectors in ("frozen", "tuned", "both")

    @torch.no_grad()
    def take_vectors(self, vectors: Float[Tensor, "token width"], is_known: Bool[Tensor, " token"]) -> None:
        """Begin with ready vectors, of the tokens of which they are known."""
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
        if self.contexts is not None:
            found.append(self.contexts(tokens, (tokens != self.pad).sum(dim=1)))
        return self.dropout(torch.cat([*found, *([] if beside is None else [beside])], dim=-1))
