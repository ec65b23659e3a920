"""A translator made to write given tokens, and what it then says of them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation


def force_batch(task: Translation, inputs: Sequence[str], outputs: Sequence[Sequence[int]]) -> PairBatch:
    """A batch in which these tokens, and no others, are written."""
    sources = task.encode_sources(inputs)
    return task.token_batch([np.array(s) for s in sources], [np.array(tokens) for tokens in outputs])


def forced_distributions(task: Translation, batch: PairBatch) -> list[Tensor]:
    """For each row the log-probabilities (place, token) from which its target, end included, is written."""
    log_probabilities, _ = task.forced_log_probabilities(batch)
    return list(log_probabilities.split(_lengths(batch)))


def forced_scores(task: Translation, batch: PairBatch) -> Tensor:
    """The log-probability of each target in the batch, its end counted."""
    return torch.stack([own.sum() for own in forced_token_scores(task, batch)])


def forced_token_scores(task: Translation, batch: PairBatch) -> list[Tensor]:
    """For each row the log-probabilities of its target's tokens, that of the end last."""
    log_probabilities, wanted = task.forced_log_probabilities(batch)
    return list(log_probabilities.gather(1, wanted[:, None]).squeeze(1).split(_lengths(batch)))


def _lengths(batch: PairBatch) -> list[int]:
    rows = batch.places // batch.target.shape[1]
    return torch.bincount(rows, minlength=batch.rows).tolist()
