"""Models that can write into reserved caches, with the same log-probabilities."""

import pytest
import torch
from test_laws import BUILDS, PAIRS, build

from regard.attention.watch import watching
from regard.decoding.fixed_beam import Reserves
from regard.protocols import Stepwise
from regard.tasks.translation.reserving import Reserving, can_reserve, few_lengths


@torch.no_grad()
def test_the_same_step() -> None:
    task = build(*BUILDS["transformer"])
    writer, batch = Reserving(task), task.pair_up(PAIRS)
    assert isinstance(writer, Stepwise)
    assert isinstance(writer, Reserves)
    plain, fixed = task.start(batch), writer.reserve(writer.start(batch), 1, 2)
    for place in range(4):
        if place == 2:
            fixed = writer.extend(fixed, 4)
        expected, plain = task.step(batch.inputs[:, place], plain)
        log_probabilities, fixed = writer.step(batch.inputs[:, place], fixed)
        torch.testing.assert_close(log_probabilities, expected)


def test_who_can() -> None:
    task, recurrent = build(*BUILDS["transformer"]), build(*BUILDS["luong"])
    assert can_reserve(task)
    with watching(task.model):
        assert not can_reserve(task)
    assert not can_reserve(task.train())
    assert not can_reserve(recurrent)
    with pytest.raises(TypeError, match="Seq2Seq has no caches to reserve"):
        Reserving(recurrent)


@torch.no_grad()
def test_sources_are_padded_to_few_lengths() -> None:
    assert [few_lengths(length) for length in (1, 16, 17, 64, 65, 128, 129)] == [16, 16, 32, 64, 128, 128, 192]
    task, pairs = build(*BUILDS["transformer"]), [("sixteen letters.", "x")]
    keys = Reserving(task).start(task.pair_up(pairs)).sentence.blocks[0].keys
    assert keys.shape[2] == 32  # of seventeen
    family, table = BUILDS["transformer"]
    short = build(family, table | {"longest": 20, "positions": "learned"})  # it has no further positions
    assert Reserving(short).start(short.pair_up(pairs)).sentence.blocks[0].keys.shape[2] == 20
