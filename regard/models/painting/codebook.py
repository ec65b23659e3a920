"""Pictures as a few codes of a learnt codebook (van den Oord et al. 2017, "Neural Discrete Representation Learning").

An encoder makes a vector z of each cell of a picture, the nearest code e_k of the codebook takes its place, and a
decoder makes the picture of the codes:

    k = argmin_j ‖z − e_j‖,   x̂ = decode(e_k),   L = ‖x − x̂‖² + ‖sg[z] − e_k‖² + β ‖z − sg[e_k]‖²     (equation 3)

sg[·] has no gradient; that of x̂ passes from e_k straight through to z. Departures: z and the codes have length 1 (Yu et
al. 2022, "Vector-quantized Image Modeling", section 3.2), and the codes begin among the vectors of training pictures,
far from each other (`begin_with`).
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

_LEAST = 1e-12  # added to distances, of which all may be 0

Painted = Float[Tensor, "batch channel height width"]
Codes = Int[Tensor, "batch row column"]


class Coded(NamedTuple):
    """Result of passing pictures through the codebook; each loss is that of a picture."""

    codes: Codes
    pictures: Painted
    error: Float[Tensor, " batch"]  # ‖x − x̂‖²
    distance: Float[Tensor, " batch"]  # ‖z − e‖², once for the codebook and β times for the encoder


class Codebook(nn.Module):
    """Pictures to codes and back: halvings of the picture by convolutions, the nearest code, and the way back.

    - `halvings`: how often the sides of a picture are halved; a cell is a square of 2^halvings pixels.
    - `codes`, `depth`: how many codes, and numbers in each.
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
        """The whole way, with gradients for all parts."""
        found = F.normalize(self.encoder(pictures), dim=1)
        codes = self._nearest(found)
        taken = self._vectors_of(codes)
        again = self.decoder(found + (taken - found).detach())
        pulled = (found.detach() - taken).square().sum(dim=(1, 2, 3))
        pushed = (found - taken.detach()).square().sum(dim=(1, 2, 3))
        error = (again - pictures).square().sum(dim=(1, 2, 3))
        return Coded(codes, again, error, pulled + self.commitment * pushed)

    @torch.no_grad()
    def begin_with(self, pictures: Painted, chance: torch.Generator) -> None:
        """Take vectors of these pictures as codes, each the likelier the further it lies from those taken before.

        That is how k-means++ begins (Arthur and Vassilvitskii 2007, section 2.2).
        """
        found = F.normalize(self.encoder(pictures), dim=1).permute(0, 2, 3, 1).flatten(0, 2).cpu()
        taken = [found[int(torch.randint(len(found), (), generator=chance))]]
        distances = (found - taken[0]).square().sum(dim=1)
        while len(taken) < len(self.vectors):
            place = int(torch.multinomial(distances + _LEAST, 1, generator=chance))
            taken.append(found[place])
            distances = torch.minimum(distances, (found - taken[-1]).square().sum(dim=1))
        self.vectors.copy_(torch.stack(taken))

    def decode(self, codes: Codes) -> Painted:
        """The pictures of codes, from about 0 to about 1."""
        return self.decoder(self._vectors_of(codes))

    def _nearest(self, found: Float[Tensor, "batch depth row column"]) -> Codes:
        """Vectors of length 1 are the nearer the larger their product is."""
        products = torch.einsum("bdrc,kd->brck", found.detach(), F.normalize(self.vectors.detach(), dim=1))
        return products.argmax(dim=-1)

    def _vectors_of(self, codes: Codes) -> Float[Tensor, "batch depth row column"]:
        return F.embedding(codes, F.normalize(self.vectors, dim=1)).permute(0, 3, 1, 2)


class _Beside(nn.Module):
    """x + Conv(Rect(Conv(Rect(x)))): what a cell learns of those beside it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 1)

    def forward(self, states: Float[Tensor, "batch width row column"]) -> Float[Tensor, "batch width row column"]:
        return states + self.outer(F.relu(self.inner(F.relu(states))))
