"""The parts of a look that is made step by step, joined into those of one look."""

from functools import partial

import torch
from torch import Tensor

from regard.attention.watch import Gazes, PartMakers


def join_steps(steps: Gazes) -> PartMakers | None:
    """Return makers of the parts of all steps together; each step looked (sentence, head, copy, …) with one query."""
    if not steps:
        return None

    def make(name: str, rows: list[int], queries: list[int]) -> Tensor:
        first = steps[0].parts[name]
        if name in ("keys", "values"):  # all steps look at these
            return first.repeat_interleave(steps[0].weights.shape[2], dim=0)[rows]
        joined = torch.stack([step.parts[name].transpose(1, 2).flatten(0, 1) for step in steps], dim=2)
        return joined[rows][:, :, queries]

    return lambda rows, queries: {name: partial(make, name, rows, queries) for name in steps[0].parts}
