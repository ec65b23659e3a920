"""Pictures as a few codes of a learnt codebook (van den Oord et al. 2017, "Neural Discrete Representation Learning").

An encoder turns each cell of a picture into a vector z, the nearest code e_k of the codebook replaces it, and a decoder
turns the codes into a picture:

    k = argmin_j ‖z − e_j‖,   x̂ = decode(e_k),   L = ‖x − x̂‖² + ‖sg[z] − e_k‖² + β ‖z − sg[e_k]‖²     (equation 3)

sg[·] has no gradient; that of x̂ passes straight through from e_k to z. Departures: z and the codes have length 1 (Yu
et al. 2022, "Vector-quantized Image Modeling", section 3.2), and the codes are initialised with vectors of training
pictures that are far apart (`begin_with`).
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

_LEAST = 1e-12  # added to distances, which may all be 0

Painted = Float[Tensor, "batch channel height width"]
Codes = Int[Tensor, "batch row column"]


class Coded(NamedTuple):
    """Result of passing pictures through the codebook; losses are per picture."""

    codes: Codes
    pictures: Painted
    error: Float[Tensor, " batch"]  # ‖x − x̂‖²
    distance: Float[Tensor, " batch"]  # ‖z − e‖², once for the codebook and β times for the encoder


class Codebook(nn.Module):
    """Pictures to codes and back: convolutions that halve the picture, the nearest code, and the inverse path.

    - `halvings`: how often the sides of a picture are halved; a cell is a square of 2^halvings pixels.
    - `codes`, `depth`: the number of codes, and of numbers in each.
    """

    def __init__(self, channels: int, width: int, halvings: int, codes: int, depth: int, commitment: float) -> None:
        super().__init__()
        self.halvings, self.commitment = halvings, commitment
        down: list[nn.Module] = []
        for number in range(halvings):
            down += [nn.Conv2d(width if number else channels, width, 4, stride=2, padding=1), nn.ReLU()]
        self.encoder = nn.Sequential(*down, _Beside(width), _Beside(width), nn.Conv2d(width, depth, 1))
        up: list[nn.Module] = []
        for number in reversed(range(halvings)):
            up += [nn.ReLU(), nn.ConvTranspose2d(width, width if number else channels, 4, stride=2, padding=1)]
        self.decoder = nn.Sequential(nn.Conv2d(depth, width, 3, padding=1), _Beside(width), _Beside(width), *up)
        self.vectors = nn.Parameter(torch.empty(codes, depth))
        nn.init.normal_(self.vectors)

    def forward(self, pictures: Painted) -> Coded:
        """Encode and decode pictures, with gradients for all parts."""
        vectors = F.normalize(self.encoder(pictures), dim=1)
        codes = self._nearest(vectors)
        nearest = self._vectors_of(codes)
        decoded = self.decoder(vectors + (nearest - vectors).detach())
        codebook_loss = (vectors.detach() - nearest).square().sum(dim=(1, 2, 3))
        commitment_loss = (vectors - nearest.detach()).square().sum(dim=(1, 2, 3))
        error = (decoded - pictures).square().sum(dim=(1, 2, 3))
        return Coded(codes, decoded, error, codebook_loss + self.commitment * commitment_loss)

    @torch.no_grad()
    def begin_with(self, pictures: Painted, chance: torch.Generator) -> None:
        """Initialise the codes with vectors of these pictures; those far from the chosen ones are likelier.

        This is how k-means++ starts (Arthur and Vassilvitskii 2007, section 2.2).
        """
        vectors = F.normalize(self.encoder(pictures), dim=1).permute(0, 2, 3, 1).flatten(0, 2).cpu()
        chosen = [vectors[int(torch.randint(len(vectors), (), generator=chance))]]
        distances = (vectors - chosen[0]).square().sum(dim=1)
        while len(chosen) < len(self.vectors):
            place = int(torch.multinomial(distances + _LEAST, 1, generator=chance))
            chosen.append(vectors[place])
            distances = torch.minimum(distances, (vectors - chosen[-1]).square().sum(dim=1))
        self.vectors.copy_(torch.stack(chosen))

    def decode(self, codes: Codes) -> Painted:
        """Return the pictures of codes, with values from about 0 to about 1."""
        return self.decoder(self._vectors_of(codes))

    def _nearest(self, vectors: Float[Tensor, "batch depth row column"]) -> Codes:
        """Return the nearest codes; for vectors of length 1 they have the largest product."""
        products = torch.einsum("bdrc,kd->brck", vectors.detach(), F.normalize(self.vectors.detach(), dim=1))
        return products.argmax(dim=-1)

    def _vectors_of(self, codes: Codes) -> Float[Tensor, "batch depth row column"]:
        return F.embedding(codes, F.normalize(self.vectors, dim=1)).permute(0, 3, 1, 2)


class _Beside(nn.Module):
    """x + Conv(Rect(Conv(Rect(x)))): lets a cell learn from its neighbours."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 1)

    def forward(self, states: Float[Tensor, "batch width row column"]) -> Float[Tensor, "batch width row column"]:
        return states + self.outer(F.relu(self.inner(F.relu(states))))
