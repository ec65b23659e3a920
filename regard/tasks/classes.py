"""One class per input of any kind: accuracy, macro-averaged F1, and answers."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.protocols import Answer, Measure, Tally, mean

CLASS_MEASURES = ("error", "accuracy", "loss")
MEASURES_WITH_F1 = ("accuracy", "f1", "loss")


def sums_of_classes(
    log_probabilities: Float[Tensor, "batch class"], labels: Int[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch 2"]]:
    """Return each row's contribution to the metrics: 100 or 0, 1 or 0, and its nats, each with a count of one."""
    exact = log_probabilities.double()
    right = (exact.argmax(dim=-1) == labels).double()
    nats, one = F.nll_loss(exact, labels, reduction="none"), torch.ones_like(right)
    parts = {"error": 100 * (1 - right), "accuracy": right, "loss": nats}
    return {name: torch.stack([part, one], dim=1) for name, part in parts.items()}


def measures_of_classes(sums: dict[str, Float[Tensor, "batch 2"]], inputs: str) -> dict[str, Measure]:
    """Return the measures from the sums of rows; `inputs` names the inputs for people."""
    tallies = {name: Tally(tuple(rows.sum(dim=0).tolist()), mean) for name, rows in sums.items()}
    return {
        "error": Measure(tallies["error"], "lower", f"percent of the {inputs}"),
        "accuracy": Measure(tallies["accuracy"], "higher"),
        "loss": Measure(tallies["loss"], "lower"),
    }


def answers_among(classes: Sequence[str], log_probabilities: Float[Tensor, "batch class"]) -> list[Answer]:
    """Return the most probable class of each row, with the probabilities of all."""
    named = [dict(zip(classes, row, strict=True)) for row in log_probabilities.exp().tolist()]
    return [Answer(best := max(row, key=row.__getitem__), row[best], row) for row in named]


def macro_f1(*sums: float) -> float:
    """Return the mean of 2 right / (given + true) over the classes that were predicted or true at all.

    The sums count, for each class, the texts for which it was the right answer, the answer, and the label; then all
    texts.
    """
    classes = len(sums) // 3
    right, predicted, true = (sums[first * classes : (first + 1) * classes] for first in range(3))
    scores = [2 * r / (g + t) for r, g, t in zip(right, predicted, true, strict=True) if g + t]
    return sum(scores) / len(scores) if scores else float("nan")


def sums_with_f1(
    log_probabilities: Float[Tensor, "batch class"], labels: Int[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch sum"]]:
    """Return each text's contribution to the sums of each metric."""
    classes = log_probabilities.shape[1]
    predicted, true = (F.one_hot(numbers, classes).double() for numbers in (log_probabilities.argmax(dim=-1), labels))
    right, one = predicted * true, torch.ones_like(predicted[:, :1])
    nats = F.nll_loss(log_probabilities.double(), labels, reduction="none")
    return {
        "accuracy": torch.cat([right.sum(dim=1, keepdim=True), one], dim=1),
        "f1": torch.cat([right, predicted, true, one], dim=1),
        "loss": torch.cat([nats[:, None], one], dim=1),
    }


def measures_with_f1(sums: dict[str, Float[Tensor, "batch sum"]]) -> dict[str, Measure]:
    """Return the measures of some texts from the sums of each."""
    totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in sums.items()}
    return {
        "accuracy": Measure(Tally(totals["accuracy"], mean), "higher", "range:0-1"),
        "f1": Measure(Tally(totals["f1"], macro_f1), "higher", "mean over classes|range:0-1"),
        "loss": Measure(Tally(totals["loss"], mean), "lower", "nats per text|range:0-inf"),
    }
