"""Heads that look by place alone, each at a learned offset from the query.

For a query at the place q and a key at k of a grid, with δ = k − q (Cordonnier et al. 2020, "On the Relationship
between Self-Attention and Convolutional Layers", equation 9):

    score_h = −α_h ‖δ − Δ_h‖²

Δ_h is the centre of head h and α_h its sharpness: its weights are a Gaussian of variance 1 / 2α around q + Δ. K² sharp
heads whose centres are the K × K shifts form a convolution (theorem 1); `as_heads` builds them from one.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.core import Attention
from regard.attention.scores import dot

Grid = Float[Tensor, "batch row column channel"]
FIRST_SPREAD = 2.0  # initial variance of the centres, in cells (appendix of the paper)
SHARP = 50.0  # a neighbouring cell's weight of e⁻⁵⁰ vanishes in float64 rounding


class QuadraticHeads(nn.Module):
    """out(Concat_h(Σ_k softmax_k(score_h) · value_h(x_k))), over all cells of a grid.

    - `depth`: channels of each head's values.
    - `border`: rows and columns of zeros around the grid that can be looked at too, as a convolution pads its input.

    Centres are (down, across) in cells. The sharpness is stored as a logarithm so that it stays positive; the paper
    learns α itself.
    """

    def __init__(
        self, channels: int, heads: int, depth: int, out: int, *, looks_from: str, looks_at: str, border: int = 0
    ) -> None:
        super().__init__()
        self.heads, self.border = heads, border
        self.centres = nn.Parameter(torch.empty(heads, 2))
        self.log_sharpness = nn.Parameter(torch.zeros(heads))
        nn.init.normal_(self.centres, std=FIRST_SPREAD**0.5)
        self.value = nn.Linear(channels, heads * depth, bias=False)
        self.out = nn.Linear(heads * depth, out)
        for linear in (self.value, self.out):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.out.bias)
        self.look = Attention(dot, looks_from=looks_from, looks_at=looks_at)

    def forward(self, grid: Grid) -> Float[Tensor, "batch row column out"]:
        rows, columns = grid.shape[1:3]
        edge = self.border
        padded = F.pad(grid, (0, 0, edge, edge, edge, edge))
        values = self.value(padded).flatten(1, 2).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        queries, keys = self._queries(rows, columns), self._keys(rows, columns)
        shape = (grid.shape[0], self.heads, -1, -1)
        context = self.look(queries.expand(shape), keys.expand(shape), values)
        return self.out(context.transpose(1, 2).flatten(2)).unflatten(1, (rows, columns))

    # −α ‖k − (q + Δ)‖² is 2α (q + Δ)·k − α ‖k‖² plus a term shared by all keys, which the softmax ignores. So the score
    # is a product of three coordinates.

    def _queries(self, rows: int, columns: int) -> Float[Tensor, "head query 3"]:
        sharpness = self.log_sharpness.exp()[:, None, None]
        spots = self._places(rows, columns, 0) + self.centres[:, None]
        return torch.cat([2 * sharpness * spots, -sharpness.expand(-1, rows * columns, 1)], dim=-1)

    def _keys(self, rows: int, columns: int) -> Float[Tensor, "key 3"]:
        places = self._places(rows, columns, self.border)
        return torch.cat([places, places.square().sum(dim=-1, keepdim=True)], dim=-1)

    def _places(self, rows: int, columns: int, edge: int) -> Float[Tensor, "cell 2"]:
        """Return (down, across) of every cell, from the middle of the grid, with `edge` more lines on each side."""
        down, across = (
            torch.arange(-edge, side + edge, dtype=self.centres.dtype, device=self.centres.device) - (side - 1) / 2
            for side in (rows, columns)
        )
        return torch.cartesian_prod(down, across)


@torch.no_grad()
def as_heads(convolution: nn.Conv2d, sharpness: float = SHARP) -> QuadraticHeads:
    """Build heads that compute the same as a K × K convolution with stride 1, odd K and zero padding.

    There is one head per filter place: its centre is the shift to that place, its values are the channels unchanged,
    and its part of `out` holds the filters' weights there (the proof of theorem 1).
    """
    out, channels, side, across = convolution.weight.shape
    plain = (convolution.stride, convolution.dilation, convolution.groups) == ((1, 1), (1, 1), 1)
    if not plain or side != across or side % 2 == 0 or convolution.padding != (side // 2, side // 2):
        raise ValueError(
            "as_heads needs a square convolution of odd size, with stride 1 and zero padding of half its size"
        )
    reach = side // 2
    heads = QuadraticHeads(channels, side**2, channels, out, looks_from="picture", looks_at="picture", border=reach).to(
        convolution.weight
    )
    shifts = torch.arange(-reach, reach + 1).to(heads.centres)
    heads.centres.copy_(torch.cartesian_prod(shifts, shifts))
    heads.log_sharpness.fill_(sharpness).log_()
    heads.value.weight.copy_(torch.eye(channels).repeat(side**2, 1))
    heads.out.weight.copy_(convolution.weight.permute(0, 2, 3, 1).flatten(1))
    if convolution.bias is not None:
        heads.out.bias.copy_(convolution.bias)
    return heads
