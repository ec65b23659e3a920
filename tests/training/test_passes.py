"""A forward and backward pass, plain and captured; without a GPU the captured pass is called, not replayed."""

from dataclasses import dataclass

import pytest
import torch
from own_clock import tell_time
from torch import Tensor, nn

from regard.protocols import Loss, Tally, mean
from regard.training.passes import Passes


@dataclass(frozen=True)
class Numbers:
    """A batch of fixed shape."""

    tensors: list[Tensor]
    room: int = 1

    @property
    def count(self) -> int:
        return self.tensors[0].shape[0]

    def holding(self, tensors: list[Tensor]) -> "Numbers":
        return Numbers(tensors, self.room)


class Slope(nn.Module):
    """Task with loss = Σ slope · number, so its gradient is the sum of the numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(2.0))
        self.calls = 0

    def loss(self, batch: Numbers, carry: dict[str, Tensor] | None = None) -> Loss:
        self.calls += 1
        largest = Tally((batch.tensors[0].max(), 2.0), mean)
        return Loss((self.slope * batch.tensors[0]).sum(), batch.count, {"half the largest": largest})


@pytest.fixture
def task() -> Slope:
    return Slope()


def numbers(*values: float) -> Numbers:
    return Numbers([torch.tensor(values)])


def test_a_plain_pass_adds_its_gradient(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    assert passes(numbers(1, 2), None).total.item() == 6
    passes(numbers(4), None)
    assert task.slope.grad is not None
    assert task.slope.grad.item() == 7
    assert not passes.capturing


def test_a_captured_pass_gives_the_same(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    first, second = passes.replay(numbers(1, 2)), passes.replay(numbers(10, 20))
    assert (first.total.item(), second.total.item()) == (6, 60)
    assert first.count == 2
    assert [float(loss.tallies["half the largest"].value) for loss in (first, second)] == [1, 10]
    assert task.slope.grad is not None
    assert task.slope.grad.item() == 33
    assert passes.capturing


def test_gradients_that_are_there_survive_a_capture(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    task.slope.grad = torch.tensor(100.0)
    where = task.slope.grad.data_ptr()
    passes.replay(numbers(1, 2))
    assert task.slope.grad.item() == 103
    assert task.slope.grad.data_ptr() == where


def test_what_does_not_learn_gets_no_gradient(task: Slope) -> None:
    task.frozen = nn.Parameter(torch.tensor(1.0), requires_grad=False)
    Passes(task, task, "float32").replay(numbers(1, 2))
    assert task.frozen.grad is None
    assert task.slope.grad is not None
    assert task.slope.grad.item() == 3


def test_each_shape_and_room_has_a_pass_of_its_own(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    for batch in (numbers(1), numbers(2), numbers(1, 2), Numbers([torch.tensor([1.0])], room=2)):
        passes.replay(batch)
    assert len(passes._captured) == 3


def test_beyond_so_many_shapes_a_pass_is_plain(task: Slope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.training.passes.MOST_CAPTURED", 2)
    passes = Passes(task, task, "float32")
    totals = [passes.replay(numbers(*[1.0] * count)).total.item() for count in (1, 2, 3, 1)]
    assert totals == [2, 4, 6, 2]
    assert task.slope.grad is not None
    assert task.slope.grad.item() == 7
    assert len(passes._captured) == 2


@pytest.mark.parametrize(("free", "idle", "expected"), [(30, 0, True), (10, 20, True), (10, 10, False)])
def test_a_capture_leaves_a_quarter_of_the_memory(
    task: Slope, monkeypatch: pytest.MonkeyPatch, free: int, idle: int, expected: bool
) -> None:
    passes = Passes(task, task, "float32")
    passes.device = torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 40 + idle)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 40)
    passes._pays("shape")
    assert passes._may_capture("shape") == expected


def test_a_shape_is_recorded_when_it_comes_again_and_recording_takes_a_quarter_of_the_time(
    task: Slope, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    tell_time(monkeypatch, lambda: now[0])
    passes = Passes(task, task, "float32")
    assert [passes._pays("short"), passes._pays("short"), passes._pays("long")] == [False, True, False]
    passes.capture_seconds, now[0] = 1.0, 103.0
    assert not passes._pays("long")
    now[0] = 104.0
    assert passes._pays("long")


def test_what_was_captured_can_be_forgotten(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    passes.replay(numbers(1, 2))
    passes.forget()
    assert not passes.capturing
    assert passes.replay(numbers(3, 4)).total.item() == 14
    assert task.slope.grad is not None
    assert task.slope.grad.item() == 10


def test_a_capture_draws_no_random_numbers(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    passes._capture(numbers(1), None)
    assert torch.rand(1).equal(expected)


class Sum(Slope):
    """Task that carries the running sum of all numbers into the loss; short batches train at half the rate."""

    def loss(self, batch: Numbers, carry: dict[str, Tensor] | None = None) -> Loss:
        rate = 0.5 if batch.count == 1 else 1.0
        total = batch.tensors[0].sum() + (carry["sum"].sum() if carry else 0.0)
        return Loss(self.slope * total, batch.count, carry={"sum": total[None]}, rate=rate)


def test_a_captured_pass_carries_on_what_a_plain_one_does() -> None:
    plain, captured = Sum(), Sum()
    one, other = Passes(plain, plain, "float32"), Passes(captured, captured, "float32")
    carry: dict[str, Tensor] | None = None
    sums, totals, rates = [], [], []
    for batch in (numbers(1, 2), numbers(3, 4), numbers(5), numbers(6, 7)):
        expected, result = one.plainly(batch, carry), other.replay(batch, carry)
        assert result.carry == expected.carry
        carry = result.carry
        sums.append(float(result.carry["sum"]) if result.carry else None)
        totals.append(result.total.item())
        rates.append(result.rate)
    assert (sums, totals, rates) == ([3, 10, 15, 28], [6, 20, 30, 56], [1, 1, 0.5, 1])
    assert plain.slope.grad == captured.slope.grad
    assert len(other._captured) == 3  # the first has no carry, and one is shorter


def test_what_a_batch_held_is_not_written_into(task: Slope) -> None:
    passes = Passes(task, task, "float32")
    first, second = numbers(1, 2), numbers(3, 4)
    passes.replay(first)
    passes.replay(second)
    assert first.tensors[0].tolist() == [1, 2]
