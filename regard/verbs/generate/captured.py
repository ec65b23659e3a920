"""Going on with prompts by captured steps, where a model on a GPU can have them, as the plain searches do."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from regard.decoding.fixed_beam import Reserves, fits, fixed_beam_search
from regard.decoding.fixed_sampling import fixed_sample
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.step_graphs import CapturedSteps, captures_of
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.reserving import can_reserve


def captures_for(task: Any, batch: Prompts, limits: Tensor, search: DecodingOptions) -> CapturedSteps | None:
    """Captured steps to search with; none off a GPU, for a search with rules, or where the context would overflow."""
    if not isinstance(task, GradientLanguage) or task.device.type != "cuda":
        return None
    if not can_reserve(task) or not fits(search, Demands()):
        return None
    context = task.model.context or 0
    most = max(len(tokens) + limit for tokens, limit in zip(batch.tokens, limits.tolist(), strict=True))
    return captures_of(task) if most <= context else None


def find_captured(
    writer: Reserves,
    batch: Prompts,
    limits: Tensor,
    search: DecodingOptions,
    numbers: Sequence[int] | None,
    captures: CapturedSteps,
) -> list[list[Hypothesis]]:
    """What the search finds for each prompt; with `numbers` it is drawn, and depends on them."""
    if numbers is not None:
        return fixed_sample(writer, batch, limits, search, numbers, captures, must_end=False)
    return fixed_beam_search(writer, batch, limits, search, captures, must_end=False)
