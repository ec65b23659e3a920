"""One class for each input, whatever is read: how often it is right, and what is answered."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.protocols import Answer, Measure, Tally, mean

CLASS_MEASURES = ("error", "accuracy", "loss")


def sums_of_classes(
    log_probabilities: Float[Tensor, "batch class"], labels: Int[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch 2"]]:
    """What each row adds to the measures: 100 or 0, 1 or 0, and its nats, each with a count of one."""
    exact = log_probabilities.double()
    right = (exact.argmax(dim=-1) == labels).double()
    nats, one = F.nll_loss(exact, labels, reduction="none"), torch.ones_like(right)
    parts = {"error": 100 * (1 - right), "accuracy": right, "loss": nats}
    return {name: torch.stack([part, one], dim=1) for name, part in parts.items()}


def measures_of_classes(sums: dict[str, Float[Tensor, "batch 2"]], inputs: str) -> dict[str, Measure]:
    """The measures that the sums of rows add up to; `inputs` is what has a class, in words."""
    tallies = {name: Tally(tuple(rows.sum(dim=0).tolist()), mean) for name, rows in sums.items()}
    return {
        "error": Measure(tallies["error"], "lower", f"percent of the {inputs}"),
        "accuracy": Measure(tallies["accuracy"], "higher"),
        "loss": Measure(tallies["loss"], "lower"),
    }


def answers_among(classes: Sequence[str], log_probabilities: Float[Tensor, "batch class"]) -> list[Answer]:
    """The most probable class of each row, and how probable all are."""
    named = [dict(zip(classes, row, strict=True)) for row in log_probabilities.exp().tolist()]
    return [Answer(best := max(row, key=row.__getitem__), row[best], row) for row in named]
