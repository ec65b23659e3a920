"""Networks with stepwise parts: others may overtake a long pass, and the answers keep their bits."""

import threading
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from regard.base.pauses import beside_pauses, pausing
from regard.serving.parts import pause_between_parts


class Reader(nn.Module):
    """A recurrent network of two parts."""

    def __init__(self) -> None:
        super().__init__()
        self.reading, self.answering = nn.LSTM(3, 5, bidirectional=True, batch_first=True), nn.Linear(10, 2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        answers: torch.Tensor = self.answering(self.reading(inputs)[0])
        return answers


def test_each_part_is_a_step_and_long_sequences_are_read_in_another_thread_with_the_same_bits() -> None:
    reader, long_one = Reader().eval(), torch.randn(2, 900, 3)
    with torch.no_grad():
        before = reader(long_one)
    threads, pauses, read = list[str](), list[bool](), reader.reading.forward

    def note_thread(*given: Any) -> Any:
        threads.append(threading.current_thread().name)
        return read(*given)

    reader.reading.forward = note_thread  # type: ignore[method-assign]
    pause_between_parts(reader)
    with torch.no_grad(), pausing(pauses.append):
        assert torch.equal(reader(long_one), before)
        assert threads == ["regard beside"]
        assert len(pauses) >= 3
        reader(long_one[:, :5])
        packed = pack_padded_sequence(long_one, torch.tensor([900, 20]), batch_first=True)
        assert not reader.reading(packed)[0].data.requires_grad
    assert threads == ["regard beside", threading.current_thread().name, "regard beside"]
    assert torch.equal(reader(long_one), before)  # and without pauses where it is asked
    assert threads[-1] == threading.current_thread().name


def test_what_is_given_up_beside_the_pauses_ends_and_the_next_waits_for_it() -> None:
    gate, order = threading.Event(), list[str]()

    def slow() -> None:
        assert gate.wait(20)
        order.append("left behind")

    def give_up(is_free: bool) -> None:
        raise TimeoutError

    with pausing(give_up):
        try:
            beside_pauses(slow)
        except TimeoutError:
            order.append("given up")
    with pausing(lambda is_free: gate.set()):
        beside_pauses(lambda: order.append("next"))
    assert order == ["given up", "left behind", "next"]
