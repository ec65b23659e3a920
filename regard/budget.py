"""How many tokens a batch has when nobody says: a constant on a CPU, on a GPU what fits its memory and serves."""

from collections.abc import Callable

import numpy as np
import torch

from regard.data.prepared import Prepared
from regard.families import Recipe
from regard.tasks.translation import Translation

CPU_TOKENS = 4096
TRIALS = (1024, 4096)  # tokens of the two batches whose memory is measured
SHARE = 0.8  # of the free memory that a batch may fill


def find(task: Translation, recipe: Recipe, corpus: Prepared, remark: Callable[[str], None]) -> int:
    """The number of tokens, said aloud."""
    if task.device.type == "cpu":
        remark(f"batches of {CPU_TOKENS:,} tokens, as always on a CPU")
        return CPU_TOKENS
    most = task.model.options.ample_tokens
    fitting = _fitting(task, corpus, recipe.training.precision)
    chosen = max(256, min(most, fitting) // 256 * 256)
    remark(f"batches of {chosen:,} tokens ({fitting:,} would fit the memory, {most:,} are ample for this model)")
    return chosen


def _fitting(task: Translation, corpus: Prepared, precision: str) -> int:
    """The tokens that would fill the memory, from the line through two trials with the longest pairs there are."""
    pairs = corpus.train
    longest = int(max(pairs.source_lengths.max(), pairs.target_lengths.max()))
    used = [_memory_of(task, tokens, longest, precision) for tokens in TRIALS]
    per_token = max((used[1] - used[0]) / (TRIALS[1] - TRIALS[0]), 1.0)
    free, _ = torch.cuda.mem_get_info(task.device)
    # Gradients and Adam's two memories are still to come; the trials' own tensors are gone.
    to_come = 3 * sum(parameter.numel() * parameter.element_size() for parameter in task.parameters())
    return int((SHARE * free - to_come) / per_token)


def _memory_of(task: Translation, tokens: int, longest: int, precision: str) -> int:
    """The most memory that learning from a batch of this many tokens takes, beside what is there already."""
    length = min(longest, tokens)
    row = np.full(length, task.end, dtype=np.int64)
    batch = task.token_batch([row] * (tokens // length), [row] * (tokens // length))
    torch.cuda.synchronize(task.device)
    before = torch.cuda.memory_allocated(task.device)
    torch.cuda.reset_peak_memory_stats(task.device)
    with torch.autocast("cuda", torch.bfloat16, enabled=precision != "float32"):
        loss = task.loss(batch)
    loss.total.backward()
    task.zero_grad(set_to_none=True)
    return torch.cuda.max_memory_allocated(task.device) - before
