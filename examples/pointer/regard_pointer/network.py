"""The network: u_i = vᵀ tanh(W₁ e_i + W₂ d), and softmax(u) is where it points (Vinyals et al. 2015, equation 3).

Ours has GRUs in place of LSTMs, and never points at the same element twice.
"""

import torch
from pydantic import Field
from torch import Tensor, nn

from regard.attention import Attention
from regard.attention.scores import Additive
from regard.base.recipe import Options


class PointerOptions(Options):
    """Options of a pointer network."""

    width: int = Field(64, ge=1, le=4096, description="Width of the encoder, the decoder and the attention.")


class PointerNetwork(nn.Module):
    """An encoder of elements, a decoder, and an attention whose weights are the output; place 0 is the end."""

    def __init__(self, options: PointerOptions, depth: int) -> None:
        super().__init__()
        width = self.width = options.width
        self.embedding = nn.Linear(depth, width)
        self.encoder, self.decoder = (nn.GRU(width, width, batch_first=True) for _ in range(2))
        self.begin, self.end = (nn.Parameter(torch.randn(width)) for _ in range(2))
        self.look = Attention(Additive(width, width, width), looks_from="output", looks_at="elements")

    def forward(self, elements: Tensor, before: Tensor) -> Tensor:
        """Return the log-probability of each place (row, step, place); `before` are the places of earlier steps.

        Elements are (row, element, number), with NaN behind the last of a row.
        """
        rows, lengths = torch.arange(len(elements), device=before.device), (~elements[..., 0].isnan()).sum(1)
        embedded = self.embedding(elements.nan_to_num().to(self.end.dtype))
        encoded = self.encoder(embedded)[0]
        keys = torch.cat([self.end.expand(len(rows), 1, -1), encoded], dim=1)
        read = torch.cat([self.begin.expand(len(rows), 1, -1), embedded[rows[:, None], before - 1]], dim=1)
        states = self.decoder(read, encoded[rows, lengths - 1][None])[0]
        places = torch.arange(keys.shape[1], device=before.device)
        taken = (before[..., None] == places).cumsum(dim=1) * (places > 0)
        may_look = (nn.functional.pad(taken, (0, 0, 1, 0)) == 0) & (places <= lengths[:, None])[:, None]
        weights = self.look.full(states[:, None], keys[:, None], keys[:, None], may_look[:, None]).weights[:, 0]
        return weights.clamp_min(torch.finfo(weights.dtype).tiny).log()

    @torch.no_grad()
    def point(self, elements: Tensor) -> Tensor:
        """Return the likeliest place at each step (row, step), each given those before it, and 0 after an end."""
        places = torch.zeros(len(elements), 0, dtype=torch.long, device=elements.device)
        for _ in range(elements.shape[1] + 1):
            best = self(elements, places)[:, -1].argmax(dim=-1)
            places = torch.cat([places, (best * (places > 0).all(dim=1))[:, None]], dim=1)
        return places

    def multiplications(self, size: int) -> int:
        """Return how many multiplications it takes to point at so many elements."""
        return size * (14 * self.width**2 + 2 * size * self.width)
