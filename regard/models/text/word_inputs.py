"""Word vectors: random and learnt, pretrained and frozen or tuned, or both; and features of language models."""

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

# The tables of vectors of each kind, and whether they learn.
_LEARNS = {"random": (True,), "frozen": (False,), "tuned": (True,), "both": (False, True), "none": ()}


class InputOptions(Options):
    """The word vectors that a network reads."""

    vectors: Literal["random", "frozen", "tuned", "both", "none"] = Field(
        "random",
        description="Source of the word vectors: random and learnt, or those of data.vectors, frozen, tuned, or both "
        "side by side (Kim 2014); none if the features of data.contexts suffice.",
    )
    width: int = Field(100, ge=1, le=WIDEST, description="Width of random vectors; pretrained ones have their own.")
    word_dropout: float = Field(0.0, ge=0, lt=1, description="Share of words that are read as unknown in training.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the vectors.")


class WordInputs(nn.Module):
    """Returns a vector of `width` numbers for each token.

    Words without a pretrained vector start with a random one of the same variance as those that have one.
    """

    def __init__(self, options: InputOptions, vocabulary: InputTokens) -> None:
        super().__init__()
        self.options, self.pad, self.unknown = options, vocabulary.pad, vocabulary.unknown
        if self.wants_ready and vocabulary.vector_width is None:
            raise ValueError(f"inputs.vectors = '{options.vectors}' needs pretrained vectors, but none were given")
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
        """True if it starts with pretrained vectors."""
        return self.options.vectors in ("frozen", "tuned", "both")

    @torch.no_grad()
    def take_vectors(self, vectors: Float[Tensor, "token width"], is_known: Bool[Tensor, " token"]) -> None:
        """Set pretrained vectors of the known tokens; the others get random ones."""
        spread = vectors[is_known].std(correction=0) if is_known.any() else torch.tensor(1.0)
        random = torch.randn_like(vectors) * spread
        for table in self.tables:
            table.copy_(torch.where(is_known[:, None], vectors, random))

    def forward(
        self, tokens: Int[Tensor, "batch time"], beside: Float[Tensor, "batch time beside"] | None = None
    ) -> Float[Tensor, "batch time depth"]:
        """Return the vectors of tokens, with the extra features `beside` appended."""
        if self.training and self.options.word_dropout:
            is_dropped = torch.rand(tokens.shape, device=tokens.device) < self.options.word_dropout
            tokens = tokens.masked_fill(is_dropped & (tokens != self.pad), self.unknown)
        vectors = [F.embedding(tokens, table, padding_idx=self.pad) for table in self.tables]
        if self.contexts is not None:
            vectors.append(self.contexts(tokens, (tokens != self.pad).sum(dim=1)))
        return self.dropout(torch.cat([*vectors, *([] if beside is None else [beside])], dim=-1))
