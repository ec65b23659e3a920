"""Training by counting: the same folder, resuming, listeners and validation as by gradient."""

import io
import sys
from collections import Counter as Numbers
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.protocols import Counts, Measure, Tally, mean
from regard.training.checkpoint import WEIGHTS, RunFolder, bytes_to_weights
from regard.training.counter import Counter
from regard.training.events import Counted, Ended, Hurried, Started, Validated
from regard.training.listeners import Lines
from regard.training.options import CountingOptions
from regard.training.snapshot import Validation

sys.path.insert(0, str(Path(__file__).parent))
from toy_task import Log, Memory


class Letters:
    """Task that counts letters, ten words a batch; a letter's weight is its share."""

    def __init__(self, batches: int = 7) -> None:
        self.number, self.found, self.shares = batches, Numbers[int](), torch.zeros(0)

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[str]:
        for number in range(start, self.number):
            yield "abc" * number + "x"

    def count(self, batch: str) -> None:
        self.found.update(map(ord, batch))

    def counts(self) -> dict[str, Tensor]:
        return {"letters": torch.tensor(list(self.found)), "numbers": torch.tensor(list(self.found.values()))}

    def resume_counts(self, tensors: dict[str, Tensor]) -> None:
        pairs = zip(tensors["letters"].tolist(), tensors["numbers"].tolist(), strict=True)
        self.found = Numbers(dict(pairs))

    def estimate(self) -> None:
        numbers = torch.tensor([self.found[ord(letter)] for letter in "abcx"]).double()
        self.shares = numbers / numbers.sum()

    def weights(self) -> dict[str, Tensor]:
        return {"shares": self.shares}

    def load_weights(self, tensors: dict[str, Tensor]) -> None:
        self.shares = tensors["shares"]


def counter(task: Letters, keeper: Any, *listeners: Any, every: int = 3) -> Counter:
    def validate() -> Validation:
        return Validation({"share of x": Measure(Tally((float(task.shares[3]), 1), mean), "higher")})

    return Counter(task, CountingOptions(save_every=every), 1, keeper, validate, listeners)


def stop_after(step: int) -> Any:
    return lambda event: Hurried("enough") if isinstance(event, Counted) and event.step == step else None


def test_it_counts_once_and_publishes_what_was_estimated() -> None:
    """a, b and c occur 0 + 1 + … + 6 = 21 times each and x seven times, so the shares are 21/70 and 7/70."""
    task, keeper, log = Letters(), Memory(), Log()
    assert isinstance(task, Counts)
    facts = counter(task, keeper, log).run()
    assert keeper.published[0]["shares"].tolist() == [0.3, 0.3, 0.3, 0.1]
    assert (facts.finished, facts.step, facts.validations) == (True, 7, [(7, {"share of x": 0.1})])
    assert log == [
        Started(0, 0, "batches"),
        *map(Counted, range(1, 8)),
        Validated(7, {"share of x": 0.1}, True, 0),
        Ended(7, "done", True),
    ]


@pytest.mark.parametrize("stop", [1, 3, 6, 7])
def test_resumed_is_never_stopped(stop: int, tmp_path: Path) -> None:
    whole, task = Letters(), Letters()
    facts = counter(whole, RunFolder(tmp_path / "whole")).run()
    stopped = counter(task, RunFolder(tmp_path / "stopped"), stop_after(stop)).run()
    assert (stopped.step, stopped.finished) == (stop, False)
    assert not (tmp_path / "stopped" / WEIGHTS).exists()
    again = Letters()
    assert counter(again, RunFolder(tmp_path / "stopped")).run() == facts
    assert torch.equal(again.shares, whole.shares)
    one, two = (bytes_to_weights((tmp_path / name / WEIGHTS).read_bytes(), name) for name in ("whole", "stopped"))
    assert torch.equal(one["shares"], two["shares"])


def test_what_was_saved_last_is_gone_on_from_after_a_kill() -> None:
    """A kill in the fifth batch, after the checkpoint at the third: two batches are recounted, none twice."""
    keeper, killed, task, log = Memory(), Letters(), Letters(), Log()

    def kill(event: object) -> None:
        if event == Counted(5):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        counter(killed, keeper, kill).run()
    counter(task, keeper, log).run()
    assert log[:2] == [Started(3, 0, "batches"), Counted(4)]
    assert task.shares.tolist() == [0.3, 0.3, 0.3, 0.1]


def test_a_finished_run_does_nothing() -> None:
    keeper, log = Memory(), Log()
    counter(Letters(), keeper).run()
    assert counter(Letters(), keeper, log).run().finished
    assert log == [Started(7, 0, "batches"), Ended(7, "done", True)]
    assert len(keeper.published) == 1


def test_no_batches_is_said() -> None:
    with pytest.raises(Fault, match="does not fill a single batch"):
        counter(Letters(batches=0), Memory()).run()


def test_it_is_told_in_lines() -> None:
    file = io.StringIO()
    counter(Letters(), Memory(), Lines(file)).run()
    lines = file.getvalue().splitlines()
    assert lines[0] == "counting from batch 0 on"
    assert lines[1].startswith("batch 1  ")
    assert lines[1].endswith(" batches/s")
    assert lines[-2:] == ["step 7  validation  share of x 0.100  (best so far)", "step 7  finished: done"]
