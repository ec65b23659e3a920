"""Probes: linear classifiers of states, and bilinear ones of pairs of states, all trained alike.

Several tasks are read from the same states at once. Their weights and losses are separate, and Adam scales each weight
by itself, so every task is learnt as if it were alone.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

NOTHING = -1  # the label of an example that has none
EPOCHS, ROWS = 10, 512
FEWEST_STEPS = 150  # where there are few examples
LEARNING_RATE, PAIR_RATE = 0.02, 0.006
RANK = 32  # of the bilinear form
_CONSTANT = 1e-6  # deviation of a column up to which it is the same everywhere


class LinearProbes(nn.Module):
    """A softmax over W x + b for each task, given the number of its classes."""

    def __init__(self, width: int, classes: Sequence[int]) -> None:
        super().__init__()
        self.classes = list(classes)
        self.scores = nn.Linear(width, sum(classes))
        nn.init.zeros_(self.scores.weight)
        nn.init.zeros_(self.scores.bias)

    def forward(self, states: Tensor) -> list[Tensor]:
        """Return the scores (example, class) of every task."""
        return list(self.scores(states).split(self.classes, dim=-1))

    def loss(self, states: Tensor, labels: Tensor) -> Tensor:
        """Return the sum of the tasks' mean losses; `labels` is (example, task)."""
        losses = [
            cross_entropy(scores, labels[:, task], ignore_index=NOTHING, reduction="sum")
            / (labels[:, task] != NOTHING).sum().clamp(min=1)
            for task, scores in enumerate(self(states))
        ]
        return torch.stack(losses).sum()

    @torch.no_grad()
    def predict(self, states: Tensor) -> Tensor:
        """Return the most probable class (example, task)."""
        return torch.stack([scores.argmax(-1) for scores in self(states)], dim=1)


class PairProbes(nn.Module):
    """The sign of [x; 1] A Bᵀ [y; 1] for each task: a bilinear form of low rank with the linear terms of both."""

    def __init__(self, width: int, tasks: int, generator: torch.Generator) -> None:
        super().__init__()
        sides = torch.randn(2, tasks, width + 1, RANK, generator=generator) * (width + 1) ** -0.5
        self.sides = nn.Parameter(sides)

    def forward(self, states: Tensor) -> Tensor:
        """Return the scores (pair, task) of pairs of states (pair, 2, width)."""
        whole = nn.functional.pad(states, (0, 1), value=1.0)
        one, other = (torch.einsum("pw,twr->ptr", whole[:, side], self.sides[side]) for side in (0, 1))
        return (one * other).sum(-1)

    def loss(self, states: Tensor, labels: Tensor) -> Tensor:
        return binary_cross_entropy_with_logits(self(states), labels.float(), reduction="none").mean(0).sum()

    @torch.no_grad()
    def predict(self, states: Tensor) -> Tensor:
        """Return 1 for linked pairs and 0 for others (pair, task)."""
        return (self(states) > 0).long()


def fit_probes(
    probes: LinearProbes | PairProbes,
    states_of: Callable[[Tensor], Tensor],
    labels: Tensor,
    generator: torch.Generator,
    rate: float,
) -> None:
    """Train probes on examples (example, task); `states_of` returns the states of examples by their numbers.

    The rate falls linearly to zero.
    """
    batches = -(-len(labels) // ROWS)
    epochs = max(EPOCHS, -(-FEWEST_STEPS // batches))
    optimizer = torch.optim.Adam(probes.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / (epochs * batches))
    for _ in range(epochs):
        for rows in torch.randperm(len(labels), generator=generator).split(ROWS):
            optimizer.zero_grad()
            probes.loss(states_of(rows), labels[rows]).backward()
            optimizer.step()
            schedule.step()


def standardise(states: Tensor, learnt_from: Tensor) -> Tensor:
    """Return states with mean 0 and deviation 1 in every column, over the rows that a probe learns from."""
    mean, deviation = states[learnt_from].mean(0), states[learnt_from].std(0)
    return (states - mean) / torch.where(deviation > _CONSTANT, deviation, 1.0)
