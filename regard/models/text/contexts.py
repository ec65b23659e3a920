"""Features of two pretrained language models, one for each direction (Peters et al. 2018, ELMo)."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.recurrent.bilm import Bilm


class ContextSource(NamedTuple):
    """Two language models, and for each of our tokens their token for the same word."""

    bilm: Bilm
    tokens: Int[Tensor, " token"]


class ContextVectors(nn.Module):
    """[γ Σ_j s_j h_j ; x] with s = softmax(w): a mixture of both models' layers, next to their word vector x.

    The paper mixes x with the layers (equation 1), so it must be as wide as they are; here it need not be. γ and w
    learn; the language models stay fixed, without dropout.
    """

    def __init__(self, source: ContextSource) -> None:
        super().__init__()
        self.bilm, self._tokens = source.bilm, source.tokens
        del self.bilm.output  # its predictions are not needed, and the output layer is much of its size
        self.bilm.requires_grad_(False)
        self.mixture = nn.Parameter(torch.empty(self.bilm.options.layers))
        self.scale = nn.Parameter(torch.empty(1))
        nn.init.zeros_(self.mixture)
        nn.init.ones_(self.scale)
        self.width = 2 * self.bilm.options.width + self.bilm.options.embedding

    def train(self, mode: bool = True) -> "ContextVectors":
        super().train(mode)
        self.bilm.eval()
        return self

    def forward(
        self, tokens: Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch time width"]:
        with torch.no_grad():
            vectors, *layers = self.bilm.layers(self._tokens.to(tokens.device)[tokens], lengths)
        mixed = torch.einsum("j,jbtw->btw", self.mixture.softmax(dim=0), torch.stack(layers))
        return torch.cat([self.scale * mixed, vectors], dim=-1)
