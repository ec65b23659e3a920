"""Distribution of the next token after given tokens, computed as a search does."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.protocols import Stepwise


@torch.no_grad()
def log_probabilities_after(task: Stepwise, batch: Any, before: Sequence[int], device: torch.device) -> Tensor:
    """Return the log-probabilities (token) of what follows these tokens for the only input; float64, on the CPU."""
    state = task.start(batch)
    for token in [task.begin, *before]:
        log_probabilities, state = task.step(torch.tensor([token], device=device), state)
    return log_probabilities[0].double().cpu()
