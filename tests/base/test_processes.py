"""Worker processes: results in order, faults unchanged, nothing left running."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from regard.base import processes as workers
from regard.base.faults import Fault
from regard.base.processes import map_in_order


def tripled(number: int) -> int:
    if number < 0:
        raise Fault(f"{number} is negative.", "Give another.")
    return 3 * number


def killed(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("count", [0, 2])
def test_results_come_in_order_and_faults_come_whole(count: int) -> None:
    results = map_in_order(tripled, [*range(20), -1, 21], count)
    with closing(results):
        assert [next(results) for _ in range(20)] == [3 * number for number in range(20)]
        with pytest.raises(Fault) as caught:
            next(results)
    assert caught.value.sentences == ("-1 is negative.", "Give another.")


def test_a_killed_worker_is_a_fault() -> None:
    with pytest.raises(Fault, match="A worker process ended early: it ran out of memory"):
        list(map_in_order(killed, [1, 2, 3], 1))


def stopped(number: int) -> int:
    os.kill(os.getpid(), signal.SIGSTOP)
    return number


def timed_out(number: int) -> int:
    raise TimeoutError("of the work itself")


def test_a_stopped_worker_is_a_fault_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LOOK", 0.1)
    with pytest.raises(Fault, match=r"The worker process \d+ was stopped \(SIGSTOP\)"):
        list(map_in_order(stopped, [1, 2, 3], 1))
    with pytest.raises(TimeoutError, match="of the work itself"):
        list(map_in_order(timed_out, [1], 1))


SCRIPT = """
import os, signal, time
from regard.base.processes import map_in_order

def slow(number):
    os.write(1, b"under way\\n")
    time.sleep(600)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    list(map_in_order(slow, range(9), 2))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_main_process(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert [process.stdout.readline(), process.stdout.readline()] == ["under way\n"] * 2
            process.send_signal(how)
            # The workers hold the other end of the pipe too: it closes only when they are gone.
            assert process.stdout.read() == ""
            assert process.wait() == -how
        finally:
            process.kill()
