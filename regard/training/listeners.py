"""Listeners of a training run: the terminal, log files, TensorBoard, the clock and Ctrl-C."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from regard.base.figures import in_figures, quantity
from regard.base.files import naming
from regard.base.signals import handling_signals
from regard.training.events import (
    Counted,
    Ended,
    Event,
    Hurried,
    Listener,
    Remarked,
    Replanned,
    Started,
    Stepped,
    Validated,
)

FADING = 0.98  # factor per step on the weight of a past loss, in the loss shown to users
TIMED_SECONDS = 8.0  # seconds of steps to time before forecasting how long a run will take
LINE_SECONDS = 10.0  # seconds between two lines of progress without a terminal
VALIDATIONS = 100  # validations to print in a run, however many there are


class Speedometer:
    """Items per second over the recent past, without the time spent validating."""

    def __init__(self) -> None:
        self.rate, self._last = 0.0, time.monotonic()

    def hear(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, Stepped | Counted) and now > self._last:
            present = (event.items if isinstance(event, Stepped) else 1) / (now - self._last)
            self.rate = present if not self.rate else 0.95 * self.rate + 0.05 * present
        self._last = now


class Smoother:
    """The loss and a task's tallies over the recent past, about fifty steps, since one batch says little.

    Sums of losses and of items both fade at each step, so that a large batch counts for more than a small one. After a
    roll-back it starts again from nothing.
    """

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self._sums: dict[str, float] = {}
        self._items, self._step = 0.0, 0

    def hear(self, event: Event) -> None:
        if isinstance(event, Stepped):
            has_gone_back = event.step <= self._step
            fading = 0.0 if has_gone_back else FADING ** (event.step - self._step)
            self._items = fading * self._items + event.items
            for name, value in {"loss": event.loss, **event.tallies}.items():
                self._sums[name] = fading * self._sums.get(name, 0.0) + value * event.items
            self.values = {name: total / max(self._items, 1) for name, total in self._sums.items()}
            self._step = event.step


class Forecast:
    """Says once, after timing a few steps, how long a run will take without its validations."""

    def __init__(self) -> None:
        self._said, self._steps, self._first = False, 0, (0.0, 0)

    def hear(self, event: Event) -> str | None:
        match event:
            case Started(_, steps):
                self._said, self._steps, self._first = False, steps, (0.0, 0)
            case Stepped(step) if not self._first[1] or step <= self._first[1]:  # the first, also after a roll-back
                self._first = time.monotonic(), step
            case Stepped(step) if not self._said and time.monotonic() - self._first[0] >= TIMED_SECONDS:
                self._said = True
                left = (time.monotonic() - self._first[0]) / (step - self._first[1]) * (self._steps - step)
                return f"{quantity(self._steps - step, 'step')} left, about {_minutes(left)} without validations"
            case Replanned():
                self._said = True  # such a run was planned to fit a time, and keeps to it
            case Validated():
                self._said = True  # the time it took would count too
        return None


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return "a minute" if seconds > 30 else "half a minute or less"
    return f"{seconds / 3600:.1f} hours" if seconds >= 5400 else f"{seconds / 60:.0f} minutes"


class Gauge:
    """Numbers of a step for users: smoothed loss and tallies, learning rate and speed."""

    def __init__(self) -> None:
        self.speed, self.smoother, self.forecast, self.unit = Speedometer(), Smoother(), Forecast(), ""
        self._steps, self._next = 0, 0.0  # steps of the run, and the step from which on a validation is printed

    def hear(self, event: Event) -> str | None:
        """Follow an event; now and then return a sentence to show."""
        self.speed.hear(event)
        self.smoother.hear(event)
        if isinstance(event, Started):
            self.unit, self._steps = event.unit, event.steps
        if isinstance(event, Replanned):
            self._steps = event.steps
        return self.forecast.hear(event)

    def is_worth_telling(self, event: Validated) -> bool:
        """Return True if a validation is printed; if every step is validated, each hundredth of the run is."""
        if event.step < self._next and event.step != self._steps:
            return False
        self._next = event.step + self._steps / VALIDATIONS
        return True

    def summary(self, event: Stepped | Counted) -> str:
        values = [f"{name} {in_figures(value, 3)}" for name, value in self.smoother.values.items()]
        rate = [f"rate {event.learning_rate:.1e}"] if isinstance(event, Stepped) else []
        return "  ".join([*values, *rate, f"{self.speed.rate:,.0f} {self.unit}/s"])


def _measures(event: Validated) -> str:
    return "  ".join(f"{name} {value}" for name, value in _values(event).items())


def _values(event: Validated) -> dict[str, str]:
    """Return each measure in figures, ± its deviation if there are several members; – if nothing was counted."""
    deviations = {name: f" ± {in_figures(deviation, 3)}" for name, deviation in event.deviations.items()}
    return {
        name: "–" if isnan(value) else f"{in_figures(value, 3)}{deviations.get(name, '')}"
        for name, value in event.measures.items()
    }


def _samples(event: Validated) -> Iterator[str]:
    for sample in event.samples:
        for name, text in zip(("source", "output", "reference"), sample, strict=True):
            yield f"    {name:9}  {_show(text)}"


def _show(text: str) -> str:
    """Return a text for one line of a terminal: an untrained model writes anything, even control characters."""
    shown = "".join(character if character.isprintable() else "·" for character in text)
    return shown if len(shown) <= 200 else f"{shown[:199]}…"


class Lines:
    """Progress as plain lines, for logs and pipes."""

    def __init__(self, file: TextIO | None = None) -> None:
        self.file, self.gauge = file or sys.stderr, Gauge()
        self.started, self.printed, self.steps = time.monotonic(), 0.0, 0
        self.step, self.taken = 0, 0  # the current step, and the number of steps taken, including undone ones

    def __call__(self, event: Event) -> None:
        if forecast := self.gauge.hear(event):
            self._print(f"step {event.step}  {forecast}")
        match event:
            case Started(step, steps):
                self.started, self.step, self.taken, self.steps = time.monotonic(), step, 0, steps
                self._print(f"training from step {step} to {steps}" if steps else f"counting from batch {step} on")
            case Stepped(step):
                now = time.monotonic()
                self.taken, self.step = self.taken + max(step - self.step, 1), step
                if now - self.printed >= LINE_SECONDS or step == self.steps:
                    self.printed = now
                    left = (now - self.started) / self.taken * (self.steps - step)
                    self._print(f"step {step}/{self.steps}  {self.gauge.summary(event)}  {left / 60:.1f} min left")
            case Counted(step):
                if (now := time.monotonic()) - self.printed >= LINE_SECONDS:
                    self.printed = now
                    self._print(f"batch {step}  {self.gauge.summary(event)}")
            case Validated(step, _, best) if self.gauge.is_worth_telling(event):
                self._print(f"step {step}  validation  {_measures(event)}{'  (best so far)' if best else ''}")
                for line in _samples(event):
                    self._print(line)
            case Remarked(step, text):
                self._print(f"step {step}  {text}")
            case Replanned(_, steps):
                self.steps = steps
            case Ended(step, reason, finished):
                self._print(f"step {step}  {'finished' if finished else 'stopped'}: {reason}")

    def _print(self, line: str) -> None:
        print(line, file=self.file, flush=True)


class Bar:
    """Progress as a live bar with validations above it, for users at a terminal."""

    def __init__(self, console: Console) -> None:
        self.console, self.gauge = console, Gauge()
        self.progress = Progress(
            TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[summary]}"),
            TimeRemainingColumn(), console=console, transient=True,
        )  # fmt: skip
        self.bar = self.progress.add_task("", summary="", total=None)
        self.headed, self.width = False, 0

    def __call__(self, event: Event) -> None:
        if forecast := self.gauge.hear(event):
            self.console.print(f"step {event.step}  {forecast}", highlight=False)
        match event:
            case Started(step, steps):
                self.progress.start()
                self.progress.update(self.bar, completed=step, total=steps or None)
            case Stepped(step) | Counted(step):
                self.progress.update(self.bar, completed=step, summary=self.gauge.summary(event))
            case Validated() if self.gauge.is_worth_telling(event):
                self._hear_validation(event)
            case Remarked(step, text):
                self.console.print(f"[yellow]step {step}  {escape(text)}[/]", highlight=False)
            case Replanned(step, steps):
                self.progress.update(self.bar, completed=step, total=steps)
            case Ended(step, reason, finished):
                self.progress.stop()
                self.console.print(f"step {step}  {'finished' if finished else 'stopped'}: {escape(reason)}")

    def _hear_validation(self, event: Validated) -> None:
        if not self.headed:
            self.headed = True
            self.width = 16 if event.deviations else 11
            names = [f"{name:>{self.width}}" for name in event.measures]
            self.console.print("[bold]" + " ".join(["    step", *names]) + "[/]")
        cells = " ".join([f"{event.step:8d}", *(f"{value:>{self.width}}" for value in _values(event).values())])
        self.console.print(f"[green]{cells}  best so far[/]" if event.best else cells, highlight=False)
        for line in _samples(event):
            self.console.print(f"[dim]{escape(line)}[/]", highlight=False)


@contextmanager
def progress_listener() -> Iterator[Listener]:
    """Yield the live bar at a terminal, plain lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines()
        return
    bar = Bar(console)
    try:
        yield bar
    finally:
        bar.progress.stop()


class TensorBoard:
    """Writes the run's curves for TensorBoard; a resumed run overwrites what came after its checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.smoother = folder, Smoother()
        self.writer: Any = None

    def __call__(self, event: Event) -> None:
        self.smoother.hear(event)
        with naming(self.folder):
            self._write(event)

    def _write(self, event: Event) -> None:
        match event:
            case Started(step):
                from torch.utils.tensorboard import SummaryWriter

                self.writer = SummaryWriter(str(self.folder), purge_step=step + 1)
            case Stepped(step, _, loss, _, learning_rate, norm, tallies):
                plain = {f"{name} unsmoothed": value for name, value in {"loss": loss, **tallies}.items()}
                others = {"learning rate": learning_rate} | ({} if norm is None else {"gradient norm": norm})
                for name, value in (self.smoother.values | plain | others).items():
                    self.writer.add_scalar(f"training/{name}", value, step)
            case Validated(step, measures):
                for name, value in measures.items():
                    self.writer.add_scalar(f"validation/{name}", value, step)
                for name, value in event.details.items():
                    self.writer.add_scalar(name, value, step)
            case Ended():
                self.writer.close()


def deadline(minutes: float, seconds: float) -> Listener:
    """Return a listener that stops the run in `seconds` seconds, when the user's minutes are over."""
    end = time.monotonic() + seconds

    def listen(event: Event) -> str | None:
        late = isinstance(event, Stepped | Counted | Validated) and time.monotonic() >= end
        return minutes_are_over(minutes) if late else None

    return listen


def minutes_are_over(minutes: float) -> str:
    """Return the reason to stop when the minutes are over."""
    return "the minute is over" if minutes == 1 else f"the {minutes:g} minutes are over"


class Interruptions:
    """Turns the first Ctrl-C (or request to terminate) into a clean stop; a second one interrupts at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, event: Event) -> str | None:
        return Hurried("interrupted; --resume continues from here") if self.asked else None

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interruptions() -> Iterator[Interruptions]:
    """Let Ctrl-C stop a run cleanly inside this block."""
    listener = Interruptions()
    with handling_signals(listener.handle):
        yield listener
