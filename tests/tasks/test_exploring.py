"""Objective of a translator with sampled attention: the loss of its paths, and a signal for its choices."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.tasks.translation.objectives import objective_for
from regard.tasks.translation.task import Translation

PAIRS = [("a man", "ein Mann"), ("dogs", "Hunde"), ("it", "es")]


def build(label_smoothing: float = 0.0, **model: Any) -> Translation:
    table = {"decoder": "bahdanau", "embedding": 6, "width": 8, "dropout": 0.0, "entropy": 0.0} | model
    options, letters = check(Seq2SeqOptions, table), ByteTokeniser()
    torch.manual_seed(0)
    network = Seq2Seq(options, letters.size, letters.size, True, letters.pad)
    return Translation(network, letters, letters, objective_for(options, label_smoothing)).double()


def loss_and_gradient(task: Translation, seed: int = 1) -> tuple[Tensor, list[Tensor | None]]:
    torch.manual_seed(seed)
    loss = task.loss(task.pair_up(PAIRS)).total
    return loss.detach(), list(torch.autograd.grad(loss, list(task.model.parameters()), allow_unused=True))


def sharpen(task: Translation) -> Translation:
    """Make every look certain of its place."""
    with torch.no_grad():
        task.model.decoder.look.score.energy.weight.mul_(1e4)
    return task


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_mix_of_places_is_soft_attention(smoothing: float) -> None:
    soft = build(smoothing, entropy=0.01)
    mixed = build(smoothing, hard="reinforce", samples=2, expected=1 - 1e-9)
    torch.testing.assert_close(loss_and_gradient(mixed), loss_and_gradient(soft))


@pytest.mark.parametrize("baseline", ["none", "moving", "leave-one-out", "self-critical"])
def test_paths_that_leave_nothing_to_chance_have_the_loss_of_the_best(baseline: str) -> None:
    task = sharpen(build(hard="reinforce", samples=3, baseline=baseline))
    batch = task.pair_up(PAIRS)
    loss = task.loss(batch)
    measured = task.eval().measure(batch)["loss"].tally.value
    assert float(loss.total.detach()) / loss.count == pytest.approx(measured)
    assert loss.tallies["entropy"].value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "change",
    [{"samples": 3}, {"baseline": "moving"}, {"baseline": "self-critical"}, {"reward": 0.5}, {"entropy": 0.3},
     {"discount": 0.0}, {"expected": 0.5}],
    ids=str,
)  # fmt: skip
def test_every_option_changes_the_gradient(change: dict[str, Any]) -> None:
    (_, before), (_, after) = (
        loss_and_gradient(build(**{"hard": "reinforce", "samples": 2} | options)) for options in ({}, change)
    )
    assert any(not torch.allclose(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None)


def test_the_temperature_changes_the_loss() -> None:
    cold, warm = (
        loss_and_gradient(build(hard="gumbel", entropy=0.01, temperature=temperature))[0] for temperature in (0.1, 1.0)
    )
    assert cold != warm


def test_the_average_reward_is_carried_on() -> None:
    task = build(hard="reinforce", samples=1, baseline="moving")
    batch = task.pair_up(PAIRS)
    first = task.loss(batch)
    second = task.loss(batch, first.carry)
    assert first.carry is not None
    assert second.carry is not None
    assert [int(carry["batches"]) for carry in (first.carry, second.carry)] == [1, 2]
    assert first.carry["baseline"] != second.carry["baseline"]
    assert float(first.total.detach()) / first.count == pytest.approx(-float(first.carry["baseline"]))
