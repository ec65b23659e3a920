"""Steps whose trees stay where they are, and who may have them."""

from threading import Event, Thread

import pytest
import torch
from torch import Tensor

from regard.decoding.step_graphs import CapturedSteps, Delayed
from regard.hardware.cuda_graphs import CapturedStep

Tree = dict[str, Tensor]


def step(tree: Tree) -> Tree:
    """Fibonacci's; the list of what came out is written in place."""
    tree["written"].index_copy_(0, tree["time"], tree["now"])
    return {
        "before": tree["now"],
        "now": tree["now"] + tree["before"],
        "time": tree["time"] + 1,
        "written": tree["written"],
    }


def beginning(device: str = "cpu", room: int = 8) -> Tree:
    numbers = {"before": [0], "now": [1], "time": [0], "written": [0] * room}
    return {name: torch.tensor(given, device=device) for name, given in numbers.items()}


def test_what_is_held_is_what_came_out() -> None:
    given = beginning()
    captured = CapturedStep(step, given)
    where = {name: tensor.data_ptr() for name, tensor in captured.held.items()}
    for _ in range(6):
        captured()
    assert captured.held["written"].tolist() == [1, 1, 2, 3, 5, 8, 0, 0]
    assert {name: tensor.data_ptr() for name, tensor in captured.held.items()} == where
    assert given["written"].tolist() == [0] * 8  # what it was made with is another's
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
    made = []

    def make() -> object:
        made.append(len(made))
        return step

    captures = CapturedSteps(most=2)
    first = captures.of("a", make, beginning())
    assert captures.of("a", make, beginning()) is first
    captures.of("a", make, beginning(room=4))
    captures.of("a", make, beginning())
    captures.of("b", make, beginning())  # in the place of the shorter one
    assert len(made) == 3
    assert len(captures) == 2
    assert captures.of("a", make, beginning()) is first
    captures.of("a", make, beginning(room=4))
    assert len(made) == 4
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
    delayed, number, found = Delayed(ahead=2), torch.tensor(0), []
    for value in range(5):
        number.fill_(value)
        delayed.send(number)
        found.append(delayed.read())
    assert found == [None, None, 0, 1, 2]
