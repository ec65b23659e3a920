"""What is minimised: a bound of how improbable a picture is, in nats (Gregor et al. 2015, section 2.2).

    −log p(x) ≤ L^x + L^z                                                                     (equation 12)
    L^x = −log D(x | c_T)                                                                     (9)
    L^z = Σ_t KL(Q(Z_t | h^enc_t) ‖ N(0, I)) = ½ Σ_t Σ_i (μ_ti² + σ_ti² − log σ_ti² − 1)         (10, 11)

where D is Bernoulli(σ(c_T)) for each pixel and z_t is drawn once.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.models.draw.filters import Picture
from regard.models.draw.network import Noise, Redrawn


class Bound(NamedTuple):
    """The two parts of the bound of each picture, in nats."""

    reconstruction: Float[Tensor, " batch"]  # L^x
    divergence: Float[Tensor, " batch"]  # L^z

    @property
    def total(self) -> Float[Tensor, " batch"]:
        return self.reconstruction + self.divergence


def bound(redrawn: Redrawn, pictures: Picture) -> Bound:
    """L^x and L^z of pictures of zeros and ones."""
    surprise = F.binary_cross_entropy_with_logits(redrawn.canvas, pictures, reduction="none").sum(dim=(1, 2))
    means, log_variances = redrawn.means, 2 * redrawn.log_deviations
    divergence = (means**2 + log_variances.exp() - log_variances - 1).sum(dim=(1, 2)) / 2
    return Bound(surprise, divergence)


def log_weights(redrawn: Redrawn, pictures: Picture, noise: Noise) -> Float[Tensor, " batch"]:
    """log p(x | z) + log p(z) − log q(z | x), of the latents z = μ + σ ε that this noise ε gave."""
    latents = redrawn.means + redrawn.log_deviations.exp() * noise
    of_latents = ((noise**2 - latents**2) / 2 + redrawn.log_deviations).sum(dim=(1, 2))
    return of_latents - bound(redrawn, pictures).reconstruction


def tightened_bound(weights: Float[Tensor, "sample batch"]) -> Float[Tensor, " batch"]:
    """−log of the mean importance weight: a bound that comes the nearer to −log p(x) the more samples there are.

    Burda et al. 2016, Importance Weighted Autoencoders, equation 8.
    """
    return math.log(len(weights)) - torch.logsumexp(weights, dim=0)
