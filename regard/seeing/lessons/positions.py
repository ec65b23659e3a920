"""Tables of position encodings to draw, by name, and the learnt positions of a model next to sinusoids."""

import math

import numpy as np
import torch
from torch import Tensor

from regard.attention.positions import Learned, alibi_bias, rotate, sinusoids
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.bert.network import Bert
from regard.viewing.tables import NumberTable, TableLesson


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


def learnt_positions(model: Loaded) -> dict[str, Tensor]:
    """Return the learnt vectors of places (place, width) by name; refuse a model that has none."""
    tables = dict[str, Tensor]()
    for name, part in model.named_modules():
        if isinstance(part, Learned):
            tables[name] = part.places.weight
        elif isinstance(part, Bert):
            tables[f"{name}.places".removeprefix(".")] = part.places
    if not tables:
        raise Fault(
            f'This {model.recipe.family} has learnt no positions; train one with model.positions = "learned", '
            "or omit --model to draw the others."
        )
    return {name: table.detach().double().cpu() for name, table in tables.items()}


def learnt_lesson(model: Loaded, length: int) -> TableLesson:
    """Return how similar the learnt positions are to each other, next to sinusoids of the same size."""
    shown: list[NumberTable] = []
    for name, table in learnt_positions(model).items():
        count, width = min(length, len(table)), table.shape[1]
        similarities = {
            f"learnt, {name}": similarity(table[:count]),
            "sinusoids of the same width": similarity(sinusoids(torch.arange(count), width).double()),
        }
        places = [str(place) for place in range(count)]
        shown += [
            NumberTable(title, places, places, cosines, around_zero=True) for title, cosines in similarities.items()
        ]
        shown.append(_by_distance(similarities, count, f"{name}: the first {count} of {len(table)} places"))
    return TableLesson("Learnt positions next to sinusoids: the cosine of each pair of places", shown)


def similarity(vectors: Tensor) -> np.ndarray:
    """Return the cosine of the vectors of each pair of places."""
    unit = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return (unit @ unit.mT).numpy()


def _by_distance(similarities: dict[str, np.ndarray], count: int, title: str) -> NumberTable:
    """Return the mean cosine of places at some distances."""
    distances = [distance for distance in (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512) if distance < count]
    means = [[np.diagonal(cosines, distance).mean() for distance in distances] for cosines in similarities.values()]
    caption = (
        "The mean cosine of two places at each distance. Where the model learnt order, near places are alike, as with "
        "sinusoids; places that no training text reached keep their random vectors, whose cosine is near zero."
    )
    return NumberTable(title, list(similarities), [f"at {number}" for number in distances], np.array(means), caption)
