"""Persistent workers: answers in order for any caller, faults unchanged, nothing left running or loaded in vain."""

import gc
import os
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from regard.base import worker_pool as lasting
from regard.base.faults import Fault
from regard.base.worker_pool import LastingWorkers


def tripled(number: int) -> int:
    if number < 0:
        raise Fault(f"{number} is negative.", "Give another.")
    return 3 * number


def about_itself(_: int) -> tuple[int, bool]:
    return os.getpid(), "torch" in sys.modules


def killed(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.fixture(scope="module")
def workers() -> LastingWorkers[int, int]:
    return LastingWorkers(tripled, 2)


def test_results_come_in_order_map_after_map(workers: LastingWorkers[int, int]) -> None:
    for count in (0, 1, 5, 40):
        assert list(workers.map(range(count))) == [3 * number for number in range(count)]


def test_maps_may_be_mixed_and_left_unfinished(workers: LastingWorkers[int, int]) -> None:
    up, down = workers.map(range(20)), workers.map(range(100, 80, -1))
    mixed = [(next(up), next(down)) for _ in range(10)]
    assert mixed == [(3 * number, 3 * (100 - number)) for number in range(10)]
    del up
    assert [*down] == [3 * (100 - number) for number in range(10, 20)]
    assert [*workers.map([7])] == [21]


def test_faults_come_whole_and_end_nothing(workers: LastingWorkers[int, int]) -> None:
    results = workers.map([1, -1, 2])
    assert next(results) == 3
    with pytest.raises(Fault) as caught:
        next(results)
    assert caught.value.sentences == ("-1 is negative.", "Give another.")
    assert list(workers.map([4, 5])) == [12, 15]


def test_items_are_drawn_as_they_are_needed(workers: LastingWorkers[int, int]) -> None:
    items = iter(range(1000))
    assert [*islice(workers.map(items), 5)] == [0, 3, 6, 9, 12]
    assert 5 < next(items) < 20


def test_the_same_processes_serve_every_map_without_torch_and_end_with_their_owner() -> None:
    import torch

    assert torch.__name__ in sys.modules
    workers = LastingWorkers(about_itself, 2)
    first, again = ({*workers.map(range(6))} for _ in range(2))
    assert first == again
    assert len(first) == 2
    assert {loaded for _, loaded in first} == {False}
    assert os.getpid() not in {process for process, _ in first}
    del workers
    gc.collect()
    for process, _ in first:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_killed_worker_is_a_fault() -> None:
    with pytest.raises(Fault, match="A worker process that tokenises text ended early"):
        list(LastingWorkers(killed, 1).map([1, 2, 3]))


def stopped(number: int) -> int:
    os.kill(os.getpid(), signal.SIGSTOP)
    return number


def test_a_stopped_worker_is_a_fault_that_names_it_and_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting, "_LONGEST_WAIT", 1)
    workers = LastingWorkers(stopped, 1)
    with pytest.raises(Fault, match="has not answered for 1 seconds; was it stopped") as caught:
        list(workers.map([1, 2, 3]))
    process = workers._workers[0].process
    assert f"The worker process {process.pid}," in str(caught.value)
    assert process.wait(10) == -signal.SIGKILL


SCRIPT = """
import os, signal, sys
from regard.base.worker_pool import LastingWorkers

sys.path.append(sys.argv[1])
import test_worker_pool

workers = LastingWorkers(test_worker_pool.about_itself, 2)
endless = workers.map(iter(int, 1))
print(*{next(endless)[0] for _ in range(4)}, flush=True)
if sys.argv[2] == "end":
    raise SystemExit(7)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
for _ in endless:
    pass
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("how", ["end", signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_main_process(tmp_path: Path, how: signal.Signals | str) -> None:
    """This includes workers of a script without `if __name__ == "__main__"`, which is not run again in a worker."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, Path(__file__).parent, how if isinstance(how, str) else "wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            workers = [int(word) for word in process.stdout.readline().split()]
            assert len(workers) == 2
            if isinstance(how, signal.Signals):
                process.send_signal(how)
            # The workers hold the other end of this pipe too: it closes only when they are gone.
            message = process.stderr.read()
            assert ("KeyboardInterrupt" in message) == (how == signal.SIGINT)
            assert message.count("Traceback") == (how == signal.SIGINT)
            assert process.wait() == (7 if isinstance(how, str) else -how)
        finally:
            process.kill()
