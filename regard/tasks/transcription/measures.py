"""Metrics of transcripts: label errors, sounds without errors, and nats."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from regard.protocols import Better, Measure, Tally, mean

MEASURES = ("error", "exact", "loss")


def sums_of_labels(
    written: Sequence[Sequence[int]], truths: Sequence[Sequence[int]], nats: Float[Tensor, " batch"]
) -> dict[str, Float[Tensor, "batch 2"]]:
    """Return each sound's contribution to the sums of each metric.

    The label error rate (Graves et al. 2006, equation 2) is over all labels together: the symbols to insert, delete or
    replace per hundred that were said.
    """
    edits = [Levenshtein.distance(output, truth) for output, truth in zip(written, truths, strict=True)]
    right = [100.0 * (list(output) == list(truth)) for output, truth in zip(written, truths, strict=True)]
    one = torch.ones(len(truths), dtype=torch.float64)
    labels = torch.tensor([len(labels_said) for labels_said in truths], dtype=torch.float64)
    return {
        "error": torch.stack([100 * torch.tensor(edits, dtype=torch.float64), labels], dim=1),
        "exact": torch.stack([torch.tensor(right, dtype=torch.float64), one], dim=1),
        "loss": torch.stack([nats.double().cpu(), one], dim=1),
    }


def measures_of(sums: dict[str, Float[Tensor, "batch 2"]]) -> dict[str, Measure]:
    """Return the measures of several sounds from the sums of each."""

    def measure(name: str, better: Better, signature: str) -> Measure:
        return Measure(Tally(tuple(sums[name].sum(dim=0).tolist()), mean), better, signature)

    return {
        "error": measure("error", "lower", "percent of the labels, best path"),
        "exact": measure("exact", "higher", "percent without an error"),
        "loss": measure("loss", "lower", "nats for each"),
    }
