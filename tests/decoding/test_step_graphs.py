"""Steps whose trees keep their memory, and the callers that may use them."""

from threading import Event, Thread

import pytest
import torch
from torch import Tensor

from regard.decoding.step_graphs import CapturedSteps, Delayed
from regard.hardware.cuda_graphs import CapturedStep

Tree = dict[str, Tensor]


def step(tree: Tree) -> Tree:
    """Take one Fibonacci step, writing the list of outputs in place."""
    tree["written"].index_copy_(0, tree["time"], tree["now"])
    return {
        "before": tree["now"],
        "now": tree["now"] + tree["before"],
        "time": tree["time"] + 1,
        "written": tree["written"],
    }


def beginning(device: str = "cpu", room: int = 8) -> Tree:
    numbers = {"before": [0], "now": [1], "time": [0], "written": [0] * room}
    return {name: torch.tensor(number, device=device) for name, number in numbers.items()}


def test_what_is_held_is_what_came_out() -> None:
    inputs = beginning()
    captured = CapturedStep(step, inputs)
    where = {name: tensor.data_ptr() for name, tensor in captured.held.items()}
    for _ in range(6):
        captured()
    assert captured.held["written"].tolist() == [1, 1, 2, 3, 5, 8, 0, 0]
    assert {name: tensor.data_ptr() for name, tensor in captured.held.items()} == where
    assert inputs["written"].tolist() == [0] * 8  # its inputs belong to another
    captured.load(beginning())
    captured()
    assert captured.held["written"].tolist() == [1] + [0] * 7


def test_what_is_held_can_change_places() -> None:
    captured = CapturedStep(lambda tree: [tree[1], tree[0]], [torch.tensor([1.0]), torch.tensor([2.0])])
    captured()
    assert [leaf.item() for leaf in captured.held] == [2, 1]
    captured()
    assert [leaf.item() for leaf in captured.held] == [1, 2]


@pytest.mark.parametrize("device", ["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def test_replayed_is_called(device: str) -> None:
    with CapturedSteps().taken() as captures:
        captured = captures.of("", lambda: step, beginning(device, room=1))
        captured()
        assert captured.held["written"].tolist() == [1]
        captured = captures.of("", lambda: step, beginning(device))
        for _ in range(6):
            captured()
    assert captured.held["written"].tolist() == [1, 1, 2, 3, 5, 8, 0, 0]


def test_one_for_each_key_and_shape_and_the_longest_unused_goes() -> None:
    calls = []

    def make() -> object:
        calls.append(len(calls))
        return step

    captures = CapturedSteps(most=2)
    first = captures.of("a", make, beginning())
    assert captures.of("a", make, beginning()) is first
    captures.of("a", make, beginning(room=4))
    captures.of("a", make, beginning())
    captures.of("b", make, beginning())  # in place of the shorter one
    assert len(calls) == 3
    assert len(captures) == 2
    assert captures.of("a", make, beginning()) is first
    captures.of("a", make, beginning(room=4))
    assert len(calls) == 4
    assert [len(captured.held["written"]) for captured in captures] == [8, 4]


def test_of_loads() -> None:
    captures = CapturedSteps()
    captured = captures.of("a", lambda: step, beginning())
    captured()
    assert captures.of("a", lambda: step, beginning()).held["time"].tolist() == [0]


def test_two_searches_never_have_them_at_once() -> None:
    captures, inside, order = CapturedSteps(), Event(), []

    def search() -> None:
        inside.set()
        with captures.taken():
            order.append("second")

    with captures.taken():
        thread = Thread(target=search)
        thread.start()
        assert inside.wait(10)
        thread.join(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_numbers_arrive_late_and_in_order() -> None:
    delayed, number, values = Delayed(ahead=2), torch.tensor(0), []
    for value in range(5):
        number.fill_(value)
        delayed.send(number)
        values.append(delayed.read())
    assert values == [None, None, 0, 1, 2]
