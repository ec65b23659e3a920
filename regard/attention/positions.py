"""Where a token stands: sinusoidal, learned and rotary positions, or none at all."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def sinusoids(places: Int[Tensor, " time"], width: int) -> Float[Tensor, "time width"]:
    """PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos(the same) (Vaswani et al. 2017, section 3.5)."""
    angles = _angles(places, width, base=10_000.0)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :width]


def _angles(places: Int[Tensor, " time"], width: int, base: float) -> Float[Tensor, "time half"]:
    pairs = torch.arange(0, width, 2, device=places.device, dtype=torch.float32)
    return places[:, None].float() * base ** (-pairs / width)


class Sinusoidal(nn.Module):
    """Adds the published sinusoids; knows every length."""

    def forward(self, embedded: Float[Tensor, "batch time width"], first: int = 0) -> Float[Tensor, "batch time width"]:
        places = torch.arange(first, first + embedded.shape[1], device=embedded.device)
        return embedded + sinusoids(places, embedded.shape[2]).to(embedded.dtype)


class Learned(nn.Module):
    """Adds one learned vector per place; a longer input than it has places for is refused."""

    def __init__(self, longest: int, width: int) -> None:
        super().__init__()
        self.places = nn.Embedding(longest, width)
        nn.init.normal_(self.places.weight, std=width**-0.5)

    def forward(self, embedded: Float[Tensor, "batch time width"], first: int = 0) -> Float[Tensor, "batch time width"]:
        last = first + embedded.shape[1]
        if last > self.places.num_embeddings:
            raise ValueError(f"there are {self.places.num_embeddings} learned places, but {last} tokens")
        return embedded + self.places.weight[first:last]


class Unplaced(nn.Module):
    """Adds nothing: rotary positions turn queries and keys instead, and without any a bag of tokens remains."""

    def forward(self, embedded: Float[Tensor, "batch time width"], first: int = 0) -> Float[Tensor, "batch time width"]:
        return embedded


def rotate(states: Float[Tensor, "batch head time depth"], first: int = 0) -> Float[Tensor, "batch head time depth"]:
    """Turn each pair of coordinates by an angle that grows with the place (Su et al. 2021, equation 34).

    A rotated query and key then depend on their distance alone.
    """
    places = torch.arange(first, first + states.shape[-2], device=states.device)
    angles = _angles(places, states.shape[-1], base=10_000.0).to(states.dtype)
    even, odd = states[..., 0::2], states[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
