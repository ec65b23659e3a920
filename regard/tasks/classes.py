"""One class for each input, whatever is read: how often it is right, by macro-averaged F1 too, and what is answered."""

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


def macro_f1(*sums: float) -> float:
    """The mean of 2 right / (given + true) over the classes that were given or true at all.

    The sums are those of each class: of how many texts it was rightly the answer, the answer, and the label; then the
    number of texts.
    """
    classes = len(sums) // 3
    right, given, true = (sums[first * classes : (first + 1) * classes] for first in range(3))
    found = [2 * r / (g + t) for r, g, t in zip(right, given, true, strict=True) if g + t]
    return sum(found) / len(found) if found else float("nan")


def sums_with_f1(
    log_probabilities: Float[Tensor, "batch class"], labels: Int[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch sum"]]:
    """Return each text's contribution to the sums of each metric."""
    classes = log_probabilities.shape[1]
    given, true = (F.one_hot(each, classes).double() for each in (log_probabilities.argmax(dim=-1), labels))
    right, one = given * true, torch.ones_like(given[:, :1])
    nats = F.nll_loss(log_probabilities.double(), labels, reduction="none")
    return {
        "accuracy": torch.cat([right.sum(dim=1, keepdim=True), one], dim=1),
        "f1": torch.cat([right, given, true, one], dim=1),
        "loss": torch.cat([nats[:, None], one], dim=1),
    }


def measures_with_f1(sums: dict[str, Float[Tensor, "batch sum"]]) -> dict[str, Measure]:
    """The measures of some texts, from what each of them adds."""
    totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in sums.items()}
    return {
        "accuracy": Measure(Tally(totals["accuracy"], mean), "higher", "range:0-1"),
        "f1": Measure(Tally(totals["f1"], macro_f1), "higher", "mean over classes|range:0-1"),
        "loss": Measure(Tally(totals["loss"], mean), "lower", "nats per text|range:0-inf"),
    }
