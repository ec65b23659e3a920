"""The process that runs the steps of one lesson for its page.

It reads requests from standard input and writes events to standard output, each a JSON object in a line. Everything
that steps and the processes they start print becomes events. It ends, with all it started, when its input ends.
"""

import base64
import codecs
import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from regard.base.faults import Fault
from regard.course.running import Output, Runner, working_in
from regard.course.sources import read_lesson

_CHUNK = 65_536  # bytes that are read at once from what other processes print
_DRAIN_SECONDS = 2.0


class Events:
    """Writes events, one at a time, to a descriptor that no step knows."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb")
        self._lock = threading.Lock()

    def send(self, **event: object) -> None:
        with self._lock:
            self._file.write(json.dumps(event).encode() + b"\n")
            self._file.flush()


class StepWorker:
    """Runs the steps that it is asked for, after those before them that it has not run yet."""

    def __init__(self, runner: Runner, events: Events, printed: "PrintedElsewhere") -> None:
        self._runner, self._events, self._printed = runner, events, printed
        self._finished: set[str] = set()

    def answer(self, request: Mapping[str, Any]) -> None:
        """Run the steps of a request. `last` has the values for steps that must run first."""
        for name, values in request["steps"].items():
            for earlier in self._missing_before(name):
                if not self._run(earlier, request["last"].get(earlier, {})):
                    break
            else:
                if self._run(name, values):
                    continue
            break
        self._events.send(idle=True)

    def _missing_before(self, name: str) -> list[str]:
        names = list(self._runner.lesson.steps)
        return [earlier for earlier in names[: names.index(name)] if earlier not in self._finished]

    def _run(self, name: str, values: Mapping[str, object]) -> bool:
        """Run a step and return True if it did not fail; one that was skipped did not."""
        self._events.send(began=name, values=values)
        fault, has_run = "", False
        try:
            has_run = self._runner.run(self._runner.lesson.steps[name], values, self._show)
        except BaseException as error:  # `exit()` in a step must not end the worker either
            fault = last_line(error)
            self._finished.discard(name)
        else:
            self._finished.add(name)
        self._printed.drain()
        self._events.send(ended=name, fault=fault, has_run=has_run)
        return not fault

    def _show(self, output: Output) -> None:
        """Send an output of a step, after what other processes printed before it."""
        self._printed.drain()
        if output.kind == "picture":
            self._events.send(picture=base64.b64encode(output.picture).decode())
        else:
            self._events.send(text=output.text)


def last_line(error: BaseException) -> str:
    """Return what a traceback would end with; the sentences of a fault need no name of an error before them."""
    if isinstance(error, Fault):
        return " ".join(error.sentences)
    return "".join(traceback.format_exception_only(error)).strip().split("\n")[-1]


def main() -> None:
    """Run steps of the lesson, material and folder that the arguments name, until the input ends."""
    number, material, folder = sys.argv[1:4]
    requests, events = os.dup(0), Events(os.dup(1))
    printed = PrintedElsewhere(events)
    waiting: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests, waiting), daemon=True).start()
    with working_in(Path(folder)):
        worker = StepWorker(Runner(read_lesson(int(number), Path(material))), events, printed)
        while True:
            worker.answer(json.loads(waiting.get()))


class PrintedElsewhere:
    """Text that processes and libraries print past Python's own streams, sent as it comes.

    It takes the standard streams of this process; an empty input takes the place of its own.
    """

    def __init__(self, events: Events) -> None:
        self._events, self._lock = events, threading.Lock()
        nothing = os.open(os.devnull, os.O_RDONLY)
        self._descriptor, ours = os.pipe()
        for theirs, descriptor in ((0, nothing), (1, ours), (2, ours)):
            os.dup2(descriptor, theirs)
        os.close(nothing)
        os.close(ours)
        threading.Thread(target=self._pass_on, daemon=True).start()

    def _pass_on(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            self._is_there(None)
            with self._lock:
                if text := decoder.decode(os.read(self._descriptor, _CHUNK)):
                    self._events.send(text=text)

    def _is_there(self, seconds: float | None) -> bool:
        return bool(select.select([self._descriptor], [], [], seconds)[0])

    def drain(self) -> None:
        """Wait until everything that was printed is sent; a process that goes on printing is not waited for."""
        end = time.monotonic() + _DRAIN_SECONDS
        while self._is_there(0) and time.monotonic() < end:
            time.sleep(0.001)
        with self._lock:
            pass  # a part that was read is being sent


def _read_requests(requests: int, waiting: "SimpleQueue[bytes]") -> None:
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            waiting.put(line)
    os.killpg(0, signal.SIGKILL)  # the page's server has gone; a session of its own makes this group ours alone
