"""How classifiers are measured: accuracy, macro-averaged F1 and loss, each as sums over examples that add up."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.protocols import Measure, Tally, mean

MEASURES = ("accuracy", "f1", "loss")


def macro_f1(*sums: float) -> float:
    """The mean of 2 right / (given + true) over the classes that were given or true at all.

    The sums are those of each class: of how many texts it was rightly the answer, the answer, and the label; then the
    number of texts.
    """
    classes = len(sums) // 3
    right, given, true = (sums[first * classes : (first + 1) * classes] for first in range(3))
    found = [2 * r / (g + t) for r, g, t in zip(right, given, true, strict=True) if g + t]
    return sum(found) / len(found) if found else float("nan")


def sums_of_rows(
    log_probabilities: Float[Tensor, "batch class"], labels: Int[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch sum"]]:
    """What each text adds to the sums of each measure."""
    classes = log_probabilities.shape[1]
    given, true = (F.one_hot(each, classes).double() for each in (log_probabilities.argmax(dim=-1), labels))
    right, one = given * true, torch.ones_like(given[:, :1])
    nats = F.nll_loss(log_probabilities.double(), labels, reduction="none")
    return {
        "accuracy": torch.cat([right.sum(dim=1, keepdim=True), one], dim=1),
        "f1": torch.cat([right, given, true, one], dim=1),
        "loss": torch.cat([nats[:, None], one], dim=1),
    }


def measures_from_rows(sums: dict[str, Float[Tensor, "batch sum"]]) -> dict[str, Measure]:
    """The measures of some texts, from what each of them adds."""
    totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in sums.items()}
    return {
        "accuracy": Measure(Tally(totals["accuracy"], mean), "higher", "range:0-1"),
        "f1": Measure(Tally(totals["f1"], macro_f1), "higher", "mean over classes|range:0-1"),
        "loss": Measure(Tally(totals["loss"], mean), "lower", "nats per text|range:0-inf"),
    }
