"""Maps of machines: both reads that an output gets lead to the steps that wrote there."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.attention.editing import Edit, editing
from regard.attention.watch import Gaze, Gazes
from regard.base.recipe import check
from regard.models.machines.ntm import NTM, NTMOptions
from regard.seeing.gazes import Sight
from regard.seeing.why.decision import Question
from regard.seeing.why.gazing import USUAL, attention_scores
from regard.viewing.sides import Slots, Steps

ITEMS, SLOTS = 3, 4


def question_at(step: int, reads: list[int]) -> Question:
    """Return a decision at a step of a machine that writes item n into slot n, and then reads these slots."""
    steps = ITEMS + len(reads)
    weights = torch.zeros(1, 2, steps, SLOTS)
    weights[0, 0, range(ITEMS), SLOTS - 1] = 1  # the read head waits at the last slot
    weights[0, 0, range(ITEMS, steps), reads] = 1
    weights[0, 1, range(ITEMS), range(ITEMS)] = 1
    weights[0, 1, ITEMS:, SLOTS - 1] = 1
    sides = {"steps": Steps([str(number) for number in range(steps)]), "slots": Slots(SLOTS, ["read", "write"])}
    gazes = Gazes([Gaze("heads", "steps", "slots", weights)])
    sight = Sight("", "", [], sides, gazes)
    nothing: Any = torch.zeros(ITEMS, 1)
    names = [f"item {number}" for number in range(ITEMS)]
    return Question(
        names, "", nothing, nothing, lambda vectors: vectors.sum(), None, see=lambda: sight, queries=(step,)
    )


@pytest.mark.parametrize(
    ("step", "reads", "expected"),
    [
        (3, [0, 1, 2], [0.5, 0, 0]),  # the read before was of a slot without an item
        (4, [0, 1, 2], [0.5, 0.5, 0]),
        (5, [0, 1, 2], [0, 0.5, 0.5]),
        (4, [1, 1, 2], [0, 1, 0]),
        (4, [3, 3, 2], [0, 0, 0]),
    ],
)
def test_what_was_written_where_an_output_reads_counts(step: int, reads: list[int], expected: list[float]) -> None:
    np.testing.assert_allclose(attention_scores(question_at(step, reads), USUAL), expected)


def test_an_output_depends_on_the_reads_of_its_step_and_the_step_before() -> None:
    """With the addresses of all other steps kept, no other read reaches the output of a feed-forward controller."""
    torch.manual_seed(3)
    options = check(NTMOptions, {"slots": 5, "depth": 3, "width": 6, "controller": "feed-forward"})
    machine = NTM(options, 2, 2).double().eval()
    inputs = torch.rand(1, 1, 6, 2, dtype=torch.float64)
    # The write head writes step n into slot n, and every read is held, so that an edit changes one read alone.
    writing = [Edit(at="heads.2", do="force", queries=[step], keys=[step % 5]) for step in range(6)]
    reading = [Edit(at="heads.1", do="force", queries=[step], keys=[0]) for step in range(6)]

    def output_with(changed: int | None) -> torch.Tensor:
        reads = [
            Edit(at="heads.1", do="force", queries=[step], keys=[1]) if step == changed else edit
            for step, edit in enumerate(reading)
        ]
        with torch.no_grad(), editing(machine, [*writing, *reads]):
            logits: torch.Tensor = machine(inputs)[0, 0, 4]
        return logits

    plain = output_with(None)
    assert not torch.allclose(output_with(4), plain, atol=1e-9)
    assert not torch.allclose(output_with(3), plain, atol=1e-9)
    for other in (2, 5):
        assert torch.equal(output_with(other), plain)
