"""Ranks that train together: their messages, and weights equal bit for bit to those of one process."""

import math
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.protocols import Measure
from regard.training.checkpoint import RunFolder
from regard.training.events import Hurried, Remarked, Stepped
from regard.training.options import TrainingOptions
from regard.training.process_group import Address, ProcessGroup, open_store
from regard.training.ranks import Ranks
from regard.training.sharding import shard
from regard.training.sharding import whole as whole_tensors
from regard.training.snapshot import Keeper, Validation
from regard.training.trainer import Trainer

sys.path.insert(0, str(Path(__file__).parent))
from forked import free_port, on_ranks
from toy_task import Line, Log, Memory, Rows


def test_notes_sums_and_tensors_reach_all_ranks() -> None:
    """Sums run row by row: 1e8 + 1 - 1e8 is 0 in float32, and -1e8 + 1e8 + 1 would be 1."""
    rows = torch.tensor([[1e8, 1, 2], [1, 1, 2], [-1e8, 1, 2], [0, 1, 2]])

    def work(ranks: Ranks) -> Any:
        part = rows.chunk(ranks.size)[ranks.rank]
        long = ranks.gather("x" * 3000 * (ranks.rank + 1))
        named = ranks.collect({f"of {ranks.rank}": torch.full((ranks.rank + 1,), ranks.rank, dtype=torch.int16)})
        shared = ranks.share({"weight": torch.tensor(1.5 + ranks.rank)})
        return [
            ranks.gather([ranks.rank, math.inf]),
            [len(note) for note in long],
            ranks.sum_in_order(part).tolist(),
            {name: tensor.tolist() for name, tensor in named.items()},
            shared["weight"].item(),
        ]

    expected = [
        [[0, math.inf], [1, math.inf]],
        [3000, 6000],
        [0.0, 4.0, 8.0],
        {"of 0": [0], "of 1": [1, 1]},
        1.5,
    ]
    assert on_ranks(2, work) == [expected] * 2
    assert Ranks().sum_in_order(rows).tolist() == [0.0, 4.0, 8.0]


def trained(ranks: Ranks, keeper: Keeper, *listeners: Any, **more: Any) -> Any:
    """Return the bits of a line trained in four pieces with dropout, and its run's records."""
    table = {"steps": 9, "validate_every": 4, "save_every": 4, "pieces": 4, "moving_average": 0.9}
    task = Line()

    def validate() -> Validation:
        return Validation({"loss": Measure.of_value(float(task.weight.weight.detach().square().sum()), "lower")})

    chosen = check(TrainingOptions, table | {"optimizer": {"learning_rate": 0.05, "warmup": 2}} | more)
    facts = Trainer(task, chosen, 1, keeper, validate, listeners, ranks).run()
    weights = whole_tensors({"weight": task.weight.weight.detach()})
    return [weights["weight"].tolist(), facts.step, facts.losses, facts.validations]


def stop_after(step: int) -> Any:
    return lambda event: "enough" if isinstance(event, Stepped) and event.step == step else None


@pytest.mark.long
def test_one_two_and_four_ranks_learn_the_same_bits_and_only_the_first_writes() -> None:
    def work(ranks: Ranks) -> Any:
        keeper = Memory()
        result = trained(ranks, keeper)
        assert bool(keeper.snapshots) == bool(keeper.published) == ranks.leads
        return result

    (alone,) = on_ranks(1, work)
    for size in (2, 4):
        assert on_ranks(size, work) == [alone] * size


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("begun", "resumed"), [(2, 1), (1, 2), (2, 4)])
def test_a_run_goes_on_with_other_ranks_than_it_was_begun_with(begun: int, resumed: int, tmp_path: Path) -> None:
    (whole,) = on_ranks(1, lambda ranks: trained(ranks, Memory()))

    def begin(ranks: Ranks) -> None:
        trained(ranks, RunFolder(tmp_path) if ranks.leads else Memory(), *([stop_after(6)] if ranks.leads else []))

    def go_on(ranks: Ranks) -> Any:
        return trained(ranks, RunFolder(tmp_path) if ranks.leads else Memory())

    on_ranks(begun, begin)
    assert RunFolder(tmp_path).steps()[-1] == 6
    assert on_ranks(resumed, go_on) == [whole] * resumed


PLAIN = {"moving_average": 0.0, "pieces": 2}


def test_sharded_ranks_learn_the_same_and_their_checkpoint_goes_on_with_one(tmp_path: Path) -> None:
    """A rank holds half of the weights, and the checkpoint holds all."""
    (whole,) = on_ranks(1, lambda ranks: trained(ranks, Memory(), **PLAIN))

    def begin(ranks: Ranks) -> Any:
        listeners = [stop_after(6)] if ranks.leads else []
        keeper = RunFolder(tmp_path) if ranks.leads else Memory()
        return trained(ranks, keeper, *listeners, **PLAIN, sharded=True)[1:3]

    for step, losses in on_ranks(2, begin):
        assert step == 6
        assert [loss for _, loss in losses] == pytest.approx([loss for _, loss in whole[2][:6]], rel=1e-5)
    (resumed,) = on_ranks(1, lambda ranks: trained(ranks, RunFolder(tmp_path), **PLAIN, sharded=True))
    torch.testing.assert_close(torch.tensor(resumed[0]), torch.tensor(whole[0]))


def test_a_stop_on_one_rank_stops_all_of_them() -> None:
    def work(ranks: Ranks) -> Any:
        def interrupt(event: Any) -> str | None:
            return Hurried("interrupted") if ranks.rank == 1 and isinstance(event, Stepped) else None

        return trained(ranks, Memory(), interrupt)[1]

    assert on_ranks(2, work) == [1, 1]


def test_too_little_memory_on_one_rank_splits_the_pieces_of_all() -> None:
    def work(ranks: Ranks) -> Any:
        task, log = Line(dropout=0.0), Log()

        def spoil(batch: Rows) -> None:
            if ranks.rank == 1 and batch.rows > 1:
                raise torch.OutOfMemoryError("no more memory")

        task.spoil = spoil
        chosen = check(TrainingOptions, {"steps": 3, "pieces": 2, "optimizer": {"warmup": 1}})
        valid = Validation({"loss": Measure.of_value(1.0, "lower")})
        trainer = Trainer(task, chosen, 1, Memory(), lambda: valid, [log], ranks)
        trainer.run()
        return [trainer.splitter.parts, len(log.of(Remarked)), task.weight.weight.tolist()]

    one, two = on_ranks(2, work)
    assert one == two
    assert one[:2] == [4, 2]


def test_a_loss_that_is_no_number_on_one_rank_rolls_back_all() -> None:
    def work(ranks: Ranks) -> Any:
        task, log, seen = Line(), Log(), []
        plain = task.loss

        def loss(batch: Rows, carry: Any = None) -> Any:
            seen.append(1)
            result = plain(batch)
            result.total = result.total * (math.nan if ranks.rank == 1 and len(seen) == 3 else 1)
            return result

        task.loss = loss
        chosen = check(TrainingOptions, {"steps": 4, "pieces": 2, "save_every": 1, "optimizer": {"warmup": 1}})
        valid = Validation({"loss": Measure.of_value(1.0, "lower")})
        facts = Trainer(task, chosen, 1, Memory(), lambda: valid, [log], ranks).run()
        return [facts.rate_scale, [event.text for event in log.of(Remarked)], task.weight.weight.tolist()]

    one, two = on_ranks(2, work)
    assert one == two
    assert one[:2] == [0.5, ["the loss is nan; back to step 2 with the learning rate halved"]]


def test_ranks_that_cannot_share_the_pieces_are_refused() -> None:
    class Three(Ranks):
        size = 3

    chosen = check(TrainingOptions, {"pieces": 4})
    with pytest.raises(Fault, match=r"pieces is 4, which 3 processes cannot share evenly. Use 1, 2 or 4 processes"):
        Trainer(Line(), chosen, 1, Memory(), pytest.fail, (), Three())


def test_who_does_not_reach_the_others_says_so() -> None:
    alone = Address(1, 2, 1, "127.0.0.1", free_port(), keeps_store=False)
    with pytest.raises(Fault, match=r"Rank 1 of 2 cannot reach 127.0.0.1:\d+, where the ranks meet, within 1 sec"):
        open_store(alone, seconds=1)


def test_where_something_else_listens_torch_keeps_silent_and_we_say_so(capfd: pytest.CaptureFixture[str]) -> None:
    def answer(listener: socket.socket) -> None:
        with suppress(OSError):  # until it is closed
            while True:
                with listener.accept()[0] as line:
                    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        with pytest.raises(Fault, match=r"Rank 1 of 2 cannot reach 127\.0\.0\.1"):
            open_store(Address(1, 2, 1, *listener.getsockname(), False), seconds=0.3)
        listener.shutdown(socket.SHUT_RDWR)  # this ends the thread
    assert capfd.readouterr().err == ""


def test_weights_are_not_sharded_over_ranks_that_share_a_gpu() -> None:
    class OnGPU(nn.Module):
        def parameters(self, recurse: bool = True) -> Any:
            return iter([SimpleNamespace(device=torch.device("cuda"))])

    ranks = Ranks()
    ranks.shares_gpus = True
    with pytest.raises(Fault, match=r"training\.sharded needs a GPU for each process"):
        shard(OnGPU(), ranks)


def test_ranks_that_do_not_come_are_named() -> None:
    address = Address(0, 3, 0, "127.0.0.1", free_port(), keeps_store=True)
    with pytest.raises(Fault, match=r"Of 3 ranks, these have not arrived within 0 seconds: 1, 2\."):
        ProcessGroup(address, open_store(address), seconds=0.1)


def test_an_environment_that_names_a_rank_but_no_meeting_place_is_refused() -> None:
    assert Address.in_environment({}) is None
    with pytest.raises(Fault, match="MASTER_ADDR and MASTER_PORT must be set too"):
        Address.in_environment({"RANK": "0", "WORLD_SIZE": "2"})
    environment = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "7"}
    assert Address.in_environment(environment) == Address(1, 2, 1, "here", 7, keeps_store=False)
