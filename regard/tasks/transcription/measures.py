"""Metrics of transcripts: label errors, sounds without any, and nats."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from regard.protocols import Better, Measure, Tally, mean

MEASURES = ("error", "exact", "loss")


def sums_of_labels(
    written: Sequence[Sequence[int]], said: Sequence[Sequence[int]], nats: Float[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch 2"]]:
    """Return each sound's contribution to the sums of each metric.

    The label error rate (Graves et al. 2006, equation 2) is of all labels together: the symbols that would have to be
    put in, taken out or replaced, for a hundred that were said.
    """
    edits = [Levenshtein.distance(own, other) for own, other in zip(written, said, strict=True)]
    right = [100.0 * (list(own) == list(other)) for own, other in zip(written, said, strict=True)]
    one = torch.ones(len(said), dtype=torch.float64)
    labels = torch.tensor([len(each) for each in said], dtype=torch.float64)
    return {
        "error": torch.stack([100 * torch.tensor(edits, dtype=torch.float64), labels], dim=1),
        "exact": torch.stack([torch.tensor(right, dtype=torch.float64), one], dim=1),
        "loss": torch.stack([nats.double().cpu(), one], dim=1),
    }


def measures_of(sums: dict[str, Float[Tensor, "batch 2"]]) -> dict[str, Measure]:
    """The measures of several sounds, of what each adds."""

    def measure(name: str, better: Better, signature: str) -> Measure:
        return Measure(Tally(tuple(sums[name].sum(dim=0).tolist()), mean), better, signature)

    return {
        "error": measure("error", "lower", "percent of the labels, best path"),
        "exact": measure("exact", "higher", "percent without an error"),
        "loss": measure("loss", "lower", "nats for each"),
    }
