"""Token positions: sinusoidal, learned, rotary, ALiBi, or none."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

# Token positions: the place of the first token, which the others follow, or the places of all, shared or per row.
First = int | Int[Tensor, " time"] | Int[Tensor, "batch time"]


def sinusoids(places: Int[Tensor, "*batch time"], width: int) -> Float[Tensor, "*batch time width"]:
    """PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos(the same) (Vaswani et al. 2017, section 3.5)."""
    angles = _angles(places, width, base=10_000.0)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]


def _angles(places: Int[Tensor, "*batch time"], width: int, base: float) -> Float[Tensor, "*batch time half"]:
    pairs = torch.arange(0, width, 2, device=places.device, dtype=torch.float32)
    return places[..., None].float() * base ** (-pairs / width)


def _all_places(first: First, time: int, device: torch.device) -> Int[Tensor, "*batch time"]:
    return first if isinstance(first, Tensor) else torch.arange(first, first + time, device=device)


class Sinusoidal(nn.Module):
    """Adds the published sinusoids; works for any length."""

    def forward(
        self, embedded: Float[Tensor, "batch time width"], first: First = 0
    ) -> Float[Tensor, "batch time width"]:
        places = _all_places(first, embedded.shape[1], embedded.device)
        return embedded + sinusoids(places, embedded.shape[2]).to(embedded.dtype)


class Learned(nn.Module):
    """Adds one learned vector per place; inputs longer than its table are refused."""

    def __init__(self, longest: int, width: int) -> None:
        super().__init__()
        self.places = nn.Embedding(longest, width)
        nn.init.normal_(self.places.weight, std=width**-0.5)

    def forward(
        self, embedded: Float[Tensor, "batch time width"], first: First = 0
    ) -> Float[Tensor, "batch time width"]:
        if isinstance(first, Tensor):  # callers that pass all places have checked their range
            return embedded + F.embedding(first, self.places.weight)
        last = first + embedded.shape[1]
        if last > self.places.num_embeddings:
            raise ValueError(f"there are {self.places.num_embeddings} learned places, but {last} tokens")
        return embedded + self.places.weight[first:last]


class Unplaced(nn.Module):
    """Adds nothing: rotary positions and ALiBi act inside the attention; without either, tokens have no order."""

    def forward(
        self, embedded: Float[Tensor, "batch time width"], first: First = 0
    ) -> Float[Tensor, "batch time width"]:
        return embedded


def rotate(states: Float[Tensor, "batch head time depth"], first: First = 0) -> Float[Tensor, "batch head time depth"]:
    """Rotate each pair of coordinates by an angle that grows with the place (Su et al. 2021, equation 34).

    The product of a rotated query and key then depends only on their distance.
    """
    angles = _angles(_all_places(first, states.shape[-2], states.device), states.shape[-1], base=10_000.0)
    angles = angles if angles.dim() == 2 else angles[:, None]  # places per row, the same in all heads
    even, odd = states[..., 0::2], states[..., 1::2]
    # An angle in the hundreds, rounded to bfloat16, is off by whole radians; its sine and cosine can be rounded.
    exact = angles.to(torch.promote_types(states.dtype, angles.dtype))
    cos, sin = exact.cos().to(states.dtype), exact.sin().to(states.dtype)
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def alibi_slopes(heads: int) -> Float[Tensor, " head"]:
    """Return the slopes of n heads: 2^(−8/n), 2^(−16/n), … 2^(−8), for n a power of two (Press et al. 2022, section 3).

    Other counts take the slopes of the next lower power of two, then every other slope of twice that number, as in the
    authors' code.
    """
    lower = 2 ** (heads.bit_length() - 1)
    exponents = [8 * number / lower for number in range(1, lower + 1)]
    between = [8 * number / (2 * lower) for number in range(1, 2 * lower, 2)]
    return 2.0 ** -torch.tensor((exponents + between)[:heads])


def alibi_bias(
    heads: int, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
) -> Float[Tensor, "1 head query key"]:
    """−slope · |i − j|: a key counts for less the further it stands from the query (Press et al. 2022, section 3).

    The paper only looks back; in an encoder, which looks both ways, distance counts the same on either side.
    """
    distance = (queries[:, None] - keys).abs()
    return -(alibi_slopes(heads).to(keys.device)[:, None, None] * distance)[None]
