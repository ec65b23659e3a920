"""Learning algorithms: batches, measures by length, answers, and a machine that learns to copy in seconds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from toys import open_toy, open_trained_toy

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.algorithms.options import AlgorithmData, HeldOut
from regard.families import check_recipe
from regard.protocols import FixedShape
from regard.runs.open import open_run
from regard.runs.parents import resolve
from regard.tasks.algorithms.batches import MEASURED_ROWS, STRIDE, LearntExamples, held_out_batches
from regard.tasks.algorithms.options import AlgorithmTraining
from regard.tasks.algorithms.task import Algorithms
from regard.training.snapshot import named_weights

COPY = AlgorithmData(algorithm="copy", bits=2, fewest=1, most=9)


class Oracle(nn.Module):
    """Model that returns fixed answers for any input."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(0))

    @property
    def dtype(self) -> torch.dtype:
        return torch.float64

    def forward(self, inputs: torch.Tensor, slots: int | None) -> torch.Tensor:
        return self.logits


def learnt(**more: int) -> LearntExamples:
    return LearntExamples(COPY, **{"rows": 3, "epoch_length": 200, "curriculum": 0} | more)


def test_members_have_examples_of_their_own_and_the_same_as_if_they_were_alone() -> None:
    (pair, alone) = (next(learnt().batches(seeds, 2, 5)) for seeds in ([7, 8], [8]))
    assert not torch.equal(*pair.inputs)
    assert torch.equal(pair.inputs[1], alone.inputs[0])
    assert isinstance(alone, FixedShape)


def test_batches_have_one_length_each_from_the_fewest_items_to_the_most_and_few_shapes() -> None:
    batches = list(learnt().batches([1], 0, 0))
    assert {int(items) for batch in batches for items in batch.items} == set(range(1, 10))
    assert {batch.inputs.shape[2] for batch in batches} == {4, 8, 12, 16, 20}
    assert all(batch.inputs.shape[2] % STRIDE == 0 and len(batch.items.unique()) == 1 for batch in batches)
    assert all(batch.count == batch.rows * int(batch.items[0]) * 2 for batch in batches)


def test_what_is_measured_on_is_drawn_by_keys_that_no_batch_to_learn_from_has() -> None:
    """In older runs seed 1, epoch 9, batch 0 had the key, and so the bits, of validation examples of nine items."""
    older = AlgorithmData(algorithm="copy", bits=2, fewest=9, most=9)
    held_out = older.held_out("valid")
    assert held_out is not None
    data = LearntExamples(older, rows=MEASURED_ROWS, epoch_length=1, curriculum=0)
    batch = next(data.batches([1], 9, 0))
    same = next(held_out_batches(older, held_out, "valid", 0))
    apart = next(held_out_batches(older.model_copy(update={"held_out_keys": "apart"}), held_out, "valid", 0))
    steps = same.inputs.shape[2]
    assert torch.equal(batch.inputs[:, :, :steps], same.inputs)
    assert apart.inputs.shape == same.inputs.shape
    assert not torch.equal(apart.inputs, same.inputs)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_no_key_of_examples_that_are_measured_on_is_that_of_a_batch(
    split: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[np.random.SeedSequence] = []

    def draw(key: np.random.SeedSequence) -> np.random.Generator:
        keys.append(key)
        return np.random.Generator(np.random.PCG64(key))

    data = COPY.model_copy(update={"held_out_keys": "apart", "test": HeldOut(items=[3, 9])})
    held_out = data.held_out(split)
    assert held_out is not None
    with monkeypatch.context() as patch:
        patch.setattr(np.random, "default_rng", draw)
        list(held_out_batches(data, held_out, split, 0))
    learnt_by = {
        np.random.SeedSequence([seed, epoch, number]).generate_state(4).tobytes()
        for seed in (1, 2)
        for epoch in range(12)
        for number in range(60)
    }
    assert keys
    assert all(key.spawn_key for key in keys)  # training batches do not have these
    assert not learnt_by & {key.generate_state(4).tobytes() for key in keys}


def test_a_curriculum_begins_with_the_fewest_items() -> None:
    batches = list(learnt(curriculum=200).batches([1], 0, 0))
    most = [max(int(batch.items[0]) for batch in batches[first : first + 50]) for first in (0, 50, 100, 150)]
    assert most[0] <= 3
    assert most[1] <= 5
    assert most[3] >= 8
    assert max(int(batch.items[0]) for batch in learnt(curriculum=200).batches([1], 1, 0)) == 9


def test_repeats_may_grow_while_lists_of_all_lengths_are_copied() -> None:
    data = AlgorithmData(algorithm="repeat-copy", bits=2, fewest=1, most=5, most_repeats=5)
    examples = LearntExamples(data, rows=1, epoch_length=200, curriculum=0, repeats_curriculum=200)
    answers = [(int(batch.items[0]), batch.count // 3 - 1) for batch in examples.batches([1], 0, 0)]
    repeats = [asked // items for items, asked in answers]
    assert {items for items, _ in answers[:25]} == {1, 2, 3, 4, 5}
    assert set(repeats[:25]) == {1}
    assert set(repeats[50:75]) == {1, 2}
    assert set(repeats[180:]) == {1, 2, 3, 4, 5}
    later = [(int(batch.items[0]), batch.count) for batch in examples.batches([1], 1, 0)]
    always = LearntExamples(data, rows=1, epoch_length=200, curriculum=0).batches([1], 1, 0)
    assert later == [(int(batch.items[0]), batch.count) for batch in always]


def test_only_repeated_copying_has_repeats_that_grow() -> None:
    table = {"family": "ntm", "task": "algorithms", "data": {"algorithm": "copy"}, "training": {"steps": 5}}
    check_recipe(table)
    table["training"] = {"steps": 5, "repeats_curriculum": 5}
    with pytest.raises(Fault, match="repeats_curriculum is for 'repeat-copy', not for 'copy'"):
        check_recipe(table)


def test_a_curriculum_makes_batches_harder_until_the_step_of_its_last_batch() -> None:
    assert AlgorithmTraining(steps=50, curriculum=9, accumulate=2).harder_until == 5
    assert AlgorithmTraining(steps=50, repeats_curriculum=30).harder_until == 30
    assert AlgorithmTraining(steps=50).harder_until == 0


def test_bits_and_sequences_are_counted_where_an_answer_is_asked_for_and_by_their_length() -> None:
    """Two examples have one and two items; the second has one of its four bits wrong."""
    task = Algorithms(Oracle(), COPY)
    batch = task.read(["10", "11 01"])
    logits = 200 * batch.answers.double() - 100
    logits[0, 1, 4, 0] *= -1
    logits[0, 0, 4] = 100.0  # a step without a target
    task.model.logits = nn.Parameter(logits)
    measures = task.measure(batch)
    assert measures["bit_error"].value == pytest.approx(100 / 6)
    assert measures["exact"].value == 50
    assert measures["loss"].value == pytest.approx(100 / 6)
    parts = task.measure_parts(batch)
    assert {name: part["exact"].value for name, part in parts.items()} == {"1 item": 100, "2 items": 0}
    assert [answer.answer for answer in task.answers(batch)] == ["10", "11 11"]
    assert task.answers(batch)[0].probability == pytest.approx(1)
    assert task.quote(batch) == "copy of 1 item"


def test_a_step_without_an_answer_has_no_gradient() -> None:
    task = Algorithms(Oracle(), COPY)
    batch = task.read(["10 01"])
    task.model.logits = nn.Parameter(torch.zeros(batch.answers.shape, dtype=torch.float64))
    task.loss(batch).total.backward()
    assert task.model.logits.grad[0, 0].abs().sum(dim=1).tolist() == [0, 0, 0, 1, 1]


def test_a_machine_goes_on_in_a_larger_memory_and_further_moves_only_where_they_are_numbers(tmp_path: Path) -> None:
    for moves in ("number", "probabilities"):
        open_trained_toy("ntm", tmp_path / moves, moves=moves)
    larger = {"start_from": str(tmp_path / "number" / "run"), "data": {"algorithm": "copy", "bits": 2, "most": 5}}
    recipe = resolve(larger | {"model": {"slots": 40, "reach": 9}, "training": {"steps": 3, "members": 2}})
    run = open_run(recipe, tmp_path / "larger", False, silent, lambda text: None)
    assert (run.task.model.slots, recipe.model.reach, recipe.model.moves) == (40, 9, "number")
    weights = load_file(tmp_path / "number" / "run" / "weights.safetensors")
    torch.testing.assert_close(named_weights(run.task), weights, rtol=0, atol=0)
    with pytest.raises(Fault, match=r"model\.reach is 9, but the model has 1"):
        resolve(larger | {"start_from": str(tmp_path / "probabilities" / "run"), "model": {"slots": 40, "reach": 9}})


def test_facts_and_cost_are_told(tmp_path: Path) -> None:
    task: Any = open_toy("ntm", tmp_path).task
    assert task.facts() == {"algorithm": "copy", "bits": 2, "items": 2, "members": 2}
    assert task.cost(4) == {"steps": 9, "multiplications": 9 * task.model.multiplications()}
