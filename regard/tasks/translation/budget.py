"""Default batch size in tokens: a constant on a CPU; on a GPU as many as fit and help."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from regard.data.corpora.prepared import PreparedPairs
from regard.tasks.translation.options import TranslationRecipe

CPU_TOKENS = 4096
TRIALS = (1024, 4096)  # tokens of the two batches whose memory is measured
SHARE = 0.8  # share of the free memory that a batch may fill


def find_batch_tokens(
    task: Any, recipe: TranslationRecipe, corpus: PreparedPairs, remark: Callable[[str], None]
) -> int:
    """Choose the number of tokens in a translator's batch, and say so."""
    if task.device.type == "cpu":
        remark(f"batches of {CPU_TOKENS:,} tokens, as always on a CPU")
        return CPU_TOKENS
    most = task.model.options.ample_tokens
    fitting = _fitting(task, corpus, recipe.training.precision)
    chosen = max(256, min(most, fitting) // 256 * 256)
    remark(f"batches of {chosen:,} tokens ({fitting:,} fit into memory, {most:,} are enough for this model)")
    return chosen


def _fitting(task: Any, corpus: PreparedPairs, precision: str) -> int:
    """Return the tokens that would fill the memory, extrapolated from two trials with the longest pairs."""
    pairs = corpus.train
    longest = int(max(pairs.source_lengths.max(), pairs.target_lengths.max()))
    small, large = (_trial(task, tokens, longest, precision) for tokens in TRIALS)
    per_token = max((large.memory - small.memory) / (large.tokens - small.tokens), 1.0)
    free, _ = torch.cuda.mem_get_info(task.device)
    # Gradients and Adam's two moments are still to come; the trials' own tensors are freed.
    to_come = 3 * sum(parameter.numel() * parameter.element_size() for parameter in task.parameters())
    return int((SHARE * free - to_come) / per_token)


class _Trial(NamedTuple):
    tokens: int
    memory: int


def _trial(task: Any, tokens: int, longest: int, precision: str) -> _Trial:
    """Return the peak memory of learning from a batch of about this many tokens, beyond what is already in use."""
    length = min(longest, tokens)
    row, rows = np.full(length, task.end, dtype=np.int64), tokens // length
    batch = task.token_batch([row] * rows, [row] * rows)
    torch.cuda.synchronize(task.device)
    before = torch.cuda.memory_allocated(task.device)
    torch.cuda.reset_peak_memory_stats(task.device)
    with torch.autocast("cuda", torch.bfloat16, enabled=precision != "float32"):
        loss = task.loss(batch)
    loss.total.backward()
    task.zero_grad(set_to_none=True)
    return _Trial(rows * length, torch.cuda.max_memory_allocated(task.device) - before)
