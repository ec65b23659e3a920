"""Make a translator write given tokens, and score them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation


def force_batch(task: Translation, inputs: Sequence[str], outputs: Sequence[Sequence[int]]) -> PairBatch:
    """Return a batch that writes exactly these tokens."""
    sources = task.encode_sources(inputs)
    return task.token_batch([np.array(s) for s in sources], [np.array(tokens) for tokens in outputs])


def forced_distributions(task: Translation, batch: PairBatch) -> list[Tensor]:
    """Return for each row the log-probabilities (place, token) at its target's places, including the end."""
    log_probabilities, _ = task.forced_log_probabilities(batch)
    return list(log_probabilities.split(_lengths(batch)))


def forced_scores(task: Translation, batch: PairBatch) -> Tensor:
    """Return the log-probability of each target in the batch, including its end."""
    return torch.stack([scores.sum() for scores in forced_token_scores(task, batch)])


def forced_token_scores(task: Translation, batch: PairBatch) -> list[Tensor]:
    """Return for each row the log-probabilities of its target's tokens, with the end last."""
    log_probabilities, targets = task.forced_log_probabilities(batch)
    return list(log_probabilities.gather(1, targets[:, None]).squeeze(1).split(_lengths(batch)))


def _lengths(batch: PairBatch) -> list[int]:
    rows = batch.places // batch.target.shape[1]
    return torch.bincount(rows, minlength=batch.rows).tolist()
