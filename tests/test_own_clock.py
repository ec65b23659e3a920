"""A test that sets the clock sets it in its own thread, so that servers in others still hear when to stop."""

import asyncio
import re
import threading
import time
from pathlib import Path

import pytest
from own_clock import tell_time

TESTS = Path(__file__).parent
SETS_EVERY_CLOCK = re.compile(r"""setattr\([^()]*\bmonotonic["']""")


def test_an_event_loop_in_another_thread_wakes_while_a_test_tells_the_time() -> None:
    ticks, ends = threading.Semaphore(0), threading.Event()

    async def tick() -> None:
        while not ends.is_set():
            await asyncio.sleep(0.01)
            ticks.release()

    thread = threading.Thread(target=asyncio.run, args=(tick(),), daemon=True)
    thread.start()
    with pytest.MonkeyPatch.context() as monkeypatch:
        tell_time(monkeypatch, lambda: -1e6)
        assert time.monotonic() == -1e6
        assert all(ticks.acquire(timeout=5) for _ in range(10))
    ends.set()
    thread.join(5)
    assert not thread.is_alive()
    assert time.monotonic() > -1e6


def test_no_test_sets_the_clock_of_every_thread() -> None:
    files = [path for path in TESTS.rglob("*.py") if path.name != "own_clock.py"]
    assert [path.name for path in files if SETS_EVERY_CLOCK.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("how", ['time, "mono{}"', 'console.time, "mono{}"', '"regard.training.passes.time.mono{}"'])
def test_one_that_did_would_be_found(how: str) -> None:
    line = f"monkeypatch.setattr({how.format('tonic')}, lambda: 1.0)"
    assert SETS_EVERY_CLOCK.search(line)
