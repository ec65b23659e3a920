"""Tables of position encodings to draw, by name."""

import math

import numpy as np
import torch
from torch import Tensor

from regard.attention.positions import alibi_bias, rotate, sinusoids


def encodings(kind: str | None, length: int, width: int, heads: int) -> dict[str, np.ndarray]:
    """Return the tables of one kind of positions, `sinusoidal`, `rotary` or `alibi`, or of all.

    They are the sinusoids of each place (place, coordinate) and their dot products, the rotary angle of each pair of
    coordinates (place, pair), and ALiBi's bias of a score (head, query, key).
    """
    places = torch.arange(length)
    tables: dict[str, Tensor] = {}
    if kind in (None, "sinusoidal"):
        vectors = sinusoids(places, width)
        tables |= {"sinusoidal": vectors, "dot product of sinusoids": vectors @ vectors.mT}
    if kind in (None, "rotary"):
        tables["rotary"] = rotary_angles(length, width)
    if kind in (None, "alibi"):
        tables["ALiBi"] = alibi_bias(heads, places, places)[0]
    return {name: table.double().numpy() for name, table in tables.items()}


def rotary_angles(length: int, width: int) -> Tensor:
    """Return the rotation of the pair (1, 0) at each place, in radians from 0 to 2π: (place, pair)."""
    pairs = torch.zeros(1, 1, length, width)
    pairs[..., 0::2] = 1.0
    turned = rotate(pairs)[0, 0]
    return torch.atan2(turned[:, 1::2], turned[:, 0::2]) % (2 * math.pi)
