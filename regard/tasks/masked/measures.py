"""How well hidden tokens are found: loss, perplexity and accuracy, each as sums over rows that add up."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.protocols import Measure, Tally, mean
from regard.tasks.language.measures import perplexity
from regard.tasks.masked.masking import NOTHING

MEASURES = ("loss", "perplexity", "accuracy")
Sums = Float[Tensor, "row sum"]


def sums_of_rows(
    logits: Float[Tensor, "row masked token"], wanted: Int[Tensor, "row masked"]
) -> dict[str, Float[Tensor, "row sum"]]:
    """What each row adds to the sums of each measure."""
    is_wanted = wanted != NOTHING
    nats = F.cross_entropy(logits.mT, wanted, reduction="none", ignore_index=NOTHING).double().sum(dim=1)
    right = ((logits.argmax(dim=-1) == wanted) & is_wanted).sum(dim=1).double()
    count = is_wanted.sum(dim=1).double()
    of_loss, of_right = torch.stack([nats, count], dim=1), torch.stack([right, count], dim=1)
    return {"loss": of_loss, "perplexity": of_loss, "accuracy": of_right}


def measures_from_rows(sums: dict[str, Sums], how: str) -> dict[str, Measure]:
    """The measures of some rows, from what each of them adds; `how` tokens were hidden is said in the signatures."""
    totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in sums.items()}
    return {
        "loss": Measure(Tally(totals["loss"], mean), "lower", f"nats per hidden token; {how}"),
        "perplexity": Measure(Tally(totals["perplexity"], perplexity), "lower", f"per hidden token; {how}"),
        "accuracy": Measure(Tally(totals["accuracy"], mean), "higher", f"of hidden tokens; {how}|range:0-1"),
    }
