"""What all benchmarks share: contenders that take turns, the rates they reach, and one table of ratios.

    .venv/bin/python benchmarks/table.py

runs all that need no GPU, as `make bench` does, and prints their ratios at the end; what lacks a peer or its data is
passed over, and said so. A ratio is our rate divided by the
peer's, so above 1 is faster than the peer. The clock's belongs to the machine as it is; that by the time of one core
hardly changes when others work on it too.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from regard.base.faults import Fault

BENCHMARKS = (
    "training_cpu",
    "recurrent",
    "gat",
    "metrics",
    "ngrams",
    "word_vectors",
    "translate_cpu",
    "cold_start",
)  # each has `ratios`

Contender = Callable[[], float]  # does its work, and says how much that was


class Rate(NamedTuple):
    """Work done in a second of the clock, and in a second of one core."""

    wall: float
    core: float


class Ratio(NamedTuple):
    """Two rates of the same work."""

    what: str
    peer: str
    ours: Rate
    theirs: Rate
    unit: str

    @property
    def wall(self) -> float:
        return self.ours.wall / self.theirs.wall

    @property
    def core(self) -> float:
        return self.ours.core / self.theirs.core


def in_turns(
    contenders: Mapping[str, Contender], rounds: int, core_time: Callable[[], float] = time.process_time
) -> dict[str, Rate]:
    """The rates of all, medians over the rounds, after one that warms up; a busy moment of the machine hits all."""
    rates: dict[str, list[Rate]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, work in contenders.items():
            wall, core = time.perf_counter(), core_time()
            done = work()
            if number:
                rates[name].append(Rate(done / (time.perf_counter() - wall), done / (core_time() - core)))
    return {name: Rate(*map(statistics.median, zip(*each, strict=True))) for name, each in rates.items()}


def against(what: str, ours: Rate, peers: Mapping[str, Rate], unit: str) -> list[Ratio]:
    """Our rate beside that of each peer, said aloud on the way."""
    found = [Ratio(what, name, ours, rate, unit) for name, rate in peers.items()]
    for ratio in found:
        print(f"{ratio.what}, {ratio.peer}: {ratio.wall:.2f}", file=sys.stderr, flush=True)
    return found


def show(ratios: Iterable[Ratio]) -> None:
    """One line for each ratio; what belongs to the machine comes last."""
    print("| what | beside | ratio | by core | ours | theirs | in a second of the clock |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for each in ratios:
        rates = f"{_short(each.ours.wall)} | {_short(each.theirs.wall)} | {each.unit}"
        print(f"| {each.what} | {each.peer} | {each.wall:.2f} | {each.core:.2f} | {rates} |", flush=True)


def _short(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def run_alone(document: str | None, ratios: Callable[[], Iterable[Ratio]]) -> None:
    """What a benchmark without options does when it is run by itself."""
    argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    show(ratios())


def all_ratios(names: Iterable[str]) -> Iterator[Ratio]:
    """Those of one benchmark after another."""
    for name in names:
        try:
            yield from import_module(name).ratios()
        except (ImportError, Fault) as reason:
            print(f"{name} is passed over: {reason}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_alone(__doc__, lambda: list(all_ratios(BENCHMARKS)))
