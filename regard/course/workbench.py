"""The server's side of running steps: one worker process at a time, and what each step has shown."""

import base64
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from regard.base.processes import end_in_words
from regard.course.screen import Screen
from regard.course.sources import Lesson

MOST_TEXT = 200_000  # characters that are kept of what a step prints
MOST_PICTURES = 24  # pictures that are kept of a step
_WORKER = "import sys; sys.path[:] = sys.argv[4:]; from regard.course.worker import main; main()"

Values = Mapping[str, int | float | str]
Status = Literal["running", "done", "skipped", "failed", "stopped"]  # skipped: its data set is missing
Finished = Callable[[int, "StepRun"], None]  # called with a lesson and a run that is done or was skipped


def picture_at(address: str, content: bytes) -> dict[str, Any]:
    """Return a picture for the page: its address, and its size, which is at the beginning of a PNG file."""
    width, height = struct.unpack(">II", content[16:24].rjust(8, b"\0"))
    return {"picture": address, "width": width, "height": height}


def _whole(text: str) -> str:
    """Return a text that UTF-8 can hold, without halves of characters, which a step may print."""
    return text.encode(errors="replace").decode()


@dataclass
class Piece:
    """A part of an output: text, or a picture by its number."""

    screen: Screen | None = None
    picture: int = 0
    content: bytes = b""

    def as_dict(self) -> dict[str, Any]:
        """Return it for the page."""
        if self.screen is None:
            return picture_at(f"picture/{self.picture}", self.content)
        return {"text": self.screen.text}


@dataclass
class StepRun:
    """The last run of a step, as far as it has come; `stamp` grows with every change."""

    name: str
    values: Values
    status: Status = "running"
    pieces: list[Piece] = field(default_factory=list)
    fault: str = ""
    is_cut: bool = False
    began: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    stamp: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it for the page."""
        return {
            "status": self.status,
            "pieces": [piece.as_dict() for piece in self.pieces],
            "fault": self.fault,
            "is_cut": self.is_cut,
            "seconds": self.seconds,
        }

    def write(self, text: str) -> None:
        """Add text that the step printed, as far as there is room."""
        if not self.pieces or self.pieces[-1].screen is None:
            used = sum(len(piece.screen.text) for piece in self.pieces if piece.screen)
            self.pieces.append(Piece(Screen(MOST_TEXT - used)))
        screen = self.pieces[-1].screen
        assert screen is not None
        screen.write(_whole(text))
        self.is_cut = self.is_cut or screen.is_cut


class _Process:
    """A worker process; it has a session of its own, so that it can be killed with everything it started."""

    def __init__(self, lesson: Lesson, material: Path, folder: Path) -> None:
        self.lesson = lesson
        arguments = [str(lesson.number), str(material.resolve()), str(folder), *map(str, sys.path)]
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _WORKER, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, request: Mapping[str, Any]) -> None:
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):  # its end is noticed by who reads its events
            self._popen.stdin.write(json.dumps(request).encode() + b"\n")
            self._popen.stdin.flush()

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what it sends, until it ends."""
        assert self._popen.stdout is not None
        with self._popen.stdout as lines:
            for line in lines:
                yield json.loads(line)

    def end(self) -> str:
        """Wait until it has ended, and say how."""
        return end_in_words(self._popen.wait())

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        assert self._popen.stdin is not None
        with suppress(BrokenPipeError):
            self._popen.stdin.close()


class Workbench:
    """Runs steps of lessons, one request at a time, and keeps what they have shown."""

    def __init__(self, folder: Path, material: Path, finished: Finished) -> None:
        self._folder, self._material, self._finished = folder, material, finished
        self._lock = threading.Lock()
        self._runs: dict[int, dict[str, StepRun]] = {}
        self._numbers, self._stamps = count(1), count(1)
        self._process: _Process | None = None
        self._waiting: list[str] = []  # steps that were asked for and have not begun
        self._running: StepRun | None = None
        self._is_busy = False

    @property
    def busy_with(self) -> int | None:
        """The number of the lesson whose steps are running."""
        return self._process.lesson.number if self._is_busy and self._process else None

    def run(self, lesson: Lesson, steps: Mapping[str, Values], last: Mapping[str, Values]) -> None:
        """Begin to run steps, with their values; `last` has those for steps before them that have not run yet."""
        with self._lock:
            assert not self._is_busy
            if self._process is None or self._process.lesson != lesson:
                self._end_process()
                self._process = _Process(lesson, self._material, self._folder)
                threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
            self._is_busy, self._waiting = True, list(steps)
            self._process.ask({"steps": steps, "last": last})

    def stop(self) -> None:
        """Kill the process if it runs something; the next run starts another."""
        with self._lock:
            if busy := self.busy_with:
                self._end_process()
                self._give_up(busy, "stopped", "")

    def close(self) -> None:
        """Kill the process."""
        with self._lock:
            self._end_process()
            self._is_busy = False

    def changes(self, number: int, after: int) -> dict[str, Any]:
        """Return the steps of a lesson that changed after a stamp, the newest stamp, and what goes on."""
        with self._lock:
            runs = self._runs.get(number, {})
            return {
                "stamp": max((run.stamp for run in runs.values()), default=0),
                "busy": self.busy_with,
                "waiting": list(self._waiting) if self.busy_with == number else [],
                "seconds": time.monotonic() - self._running.began if self._running else 0.0,
                "steps": {name: run.as_dict() for name, run in runs.items() if run.stamp > after},
            }

    def values_of(self, number: int) -> dict[str, Values]:
        """Return the values with which steps of a lesson were run last."""
        with self._lock:
            return {name: run.values for name, run in self._runs.get(number, {}).items()}

    def picture(self, number: int) -> bytes | None:
        """Return a picture that a step has shown."""
        with self._lock:
            pieces = (piece for runs in self._runs.values() for run in runs.values() for piece in run.pieces)
            return next((piece.content for piece in pieces if piece.screen is None and piece.picture == number), None)

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _listen(self, process: _Process) -> None:
        """Take in what a process sends, until it ends or another one has its place."""
        number = process.lesson.number
        for event in process.events():
            with self._lock:
                if self._process is not process:
                    return
                finished = self._take(event, number)
            if finished is not None:
                self._finished(number, finished)
        end = process.end()
        with self._lock:
            if self._process is process:
                self._end_process()
                self._give_up(number, "failed", f"The process that ran this step {end}.")

    def _take(self, event: Mapping[str, Any], number: int) -> StepRun | None:
        """Take in an event; return the run that it has finished, if it has."""
        run = self._running
        if "idle" in event:
            self._is_busy, self._waiting = False, []
        elif "began" in event:
            self._begin(number, event["began"], event["values"])
        elif run is not None:  # otherwise a thread of a step that has ended still prints
            run.stamp = next(self._stamps)
            if "text" in event:
                run.write(event["text"])
            elif "picture" in event:
                self._show(run, base64.b64decode(event["picture"]))
            else:
                status: Status = "failed" if event["fault"] else "done" if event["has_run"] else "skipped"
                self._end_run(status, event["fault"])
                return None if status == "failed" else run
        return None

    def _begin(self, number: int, name: str, values: Values) -> None:
        runs = self._runs.setdefault(number, {})
        if name in self._waiting:
            self._waiting.remove(name)
        self._running = runs[name] = StepRun(name, values, stamp=next(self._stamps))

    def _end_run(self, status: Status, fault: str) -> None:
        assert self._running is not None
        run, self._running = self._running, None
        run.status, run.fault, run.stamp = status, _whole(fault), next(self._stamps)
        run.seconds = time.monotonic() - run.began

    def _show(self, run: StepRun, picture: bytes) -> None:
        if sum(piece.screen is None for piece in run.pieces) >= MOST_PICTURES:
            run.is_cut = True
            return
        run.pieces.append(Piece(picture=next(self._numbers), content=picture))

    def _give_up(self, number: int, status: Status, fault: str) -> None:
        """Mark the step that was running, or the first that waited, and forget the others."""
        if self._running is None and self._is_busy and self._waiting:
            self._begin(number, self._waiting[0], {})
        if self._running is not None:
            self._end_run(status, fault)
        self._is_busy, self._waiting = False, []
