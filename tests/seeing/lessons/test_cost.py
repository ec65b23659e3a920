"""The cost of attention: bytes that can be counted by hand, and how they grow."""

import pytest
import torch

from regard.attention import Attention, Causal
from regard.seeing.lessons.cost import Cost, Sizes, cost_lesson, doubled, measure_costs, peak_bytes

CPU = torch.device("cpu")


def test_peak_is_what_is_held_at_once() -> None:
    """Two tensors of 4,000 bytes live together; a third is made only after the second is gone."""

    def run() -> torch.Tensor:
        first = torch.ones(1000)
        second = first.neg()
        del second
        return first.neg()

    assert peak_bytes(run, CPU) == 8000


def test_contexts_double_up_to_the_longest() -> None:
    assert doubled(2048) == [128, 256, 512, 1024, 2048]
    assert doubled(16) == [1, 2, 4, 8, 16]


def test_plain_memory_grows_with_the_square_and_fused_memory_does_not() -> None:
    costs = measure_costs([128, 256, 512], Sizes(heads=2, depth=8), CPU)
    weights = [2 * cost.scores * 4 for cost in costs]  # bytes of the weights of two heads
    assert [cost.plain_bytes / held for cost, held in zip(costs, weights, strict=True)] == pytest.approx(
        [3.1] * 3, abs=0.4
    )
    assert costs[2].fused_bytes < weights[2] / 4
    assert all(cost.plain_seconds > 0 < cost.fused_seconds for cost in costs)


def test_both_ways_give_the_same_context() -> None:
    look = Attention(looks_from="text", looks_at="text").eval()
    query, key, value = (torch.randn(1, 2, 8, 4, dtype=torch.float64) for _ in range(3))
    torch.testing.assert_close(look.full(query, key, value, Causal()).context, look(query, key, value, Causal()))


def test_lecture_b_a_context_of_2048_has_4194304_scores() -> None:
    lesson = cost_lesson(
        [Cost(1024, 400, 40, 0.1, 0.1), Cost(2048, 1600, 80, 0.4, 0.2)], Sizes(heads=8, blocks=12), "CPU"
    )
    scores, memory, time = lesson.panels
    assert [line.points[-1] for line in scores.lines] == [
        (2048, 4_194_304), (2048, 8 * 4_194_304), (2048, 96 * 4_194_304),
    ]  # fmt: skip
    assert "with GPT-3's context of 2,048 tokens, 2,048² = 4,194,304" in scores.caption
    assert "4.0 times as much" in memory.caption
    assert [points[1] for points in memory.lines[2].points] == [0.0004, 0.0016]
    assert time.lines[0].points == [(1024, 100.0), (2048, 400.0)]
