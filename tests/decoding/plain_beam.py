"""Beam search, one sentence at a time, as plainly as it can be said: the definition the batched search is held to."""

from typing import Any

import torch

from regard.protocols import Stepwise


def plain_beam(task: Stepwise, batch: Any, limit: int, size: int, alpha: float) -> list[tuple[list[int], float]]:
    """The finished hypotheses of a batch of one sentence as (tokens without the end, score), best first."""

    def scored(total: float, length: int) -> float:
        return total / ((5 + length) / 6) ** alpha

    state = task.start(batch)
    alive: list[tuple[list[int], float]] = [([], 0.0)]
    finished: list[tuple[list[int], float]] = []
    for length in range(1, limit + 1):
        last = torch.tensor([tokens[-1] if tokens else task.begin for tokens, _ in alive])
        log_probabilities, state = task.step(last, state)
        candidates = [
            (total + value, row, token)
            for row, (_, total) in enumerate(alive)
            for token, value in enumerate(log_probabilities[row].double().tolist())
            if token == task.end or length < limit
        ]
        candidates = [candidate for candidate in candidates if candidate[0] > float("-inf")]
        candidates.sort(key=lambda candidate: (-candidate[0], candidate[1], candidate[2]))
        for total, row, token in candidates[:size]:
            if token == task.end:
                finished.append((alive[row][0], scored(total, length)))
        finished = sorted(finished, key=lambda each: -each[1])[:size]
        survivors = [candidate for candidate in candidates if candidate[2] != task.end][:size]
        if not survivors or (len(finished) == size and scored(survivors[0][0], length) <= finished[-1][1]):
            break
        state = state.select(torch.tensor([row for _, row, _ in survivors]))
        alive = [([*alive[row][0], token], total) for total, row, token in survivors]
    return finished
