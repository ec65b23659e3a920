"""How time and memory grow when a corpus of millions of pairs is prepared by several processes.

    python benchmarks/preparing.py FOLDER --pairs 1000000 2000000 5000000 10000000 --processes 5 --out growth.png

Text is invented (benchmarks/wmt_text.py), each size is prepared by a process of its own, and a line says how long each
step took and the most memory that the main process and any of its workers had. With `--kills N` the smallest size is
prepared once more and killed (SIGKILL, every process) up to N times at random moments; the result must be the same to
the byte.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path
from threading import Thread
from typing import Any

from wmt_text import write_pairs

from regard.base.recipe import check
from regard.console import say_table
from regard.viewing.canvas import INK, PALETTE, canvas, save_figure

STEPS = {
    "reading the corpus": "reading",
    "reading text for the tokeniser": "sampling",
    "training the tokeniser": "tokeniser",
    "preparing the corpus": "shards",
}
MEMORIES = {"main": "main process", "worker": "a worker", "tokeniser": "the one that trains the tokeniser"}
SAMPLE_EVERY = 0.2  # seconds
SPEAK_EVERY = 20  # seconds
MOST = 100  # million pairs, for which a straight line is drawn through the last two sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the text and what is prepared from it may lie")
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 200_000], help="sizes, in this order")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=32_000)
    parser.add_argument("--kills", type=int, default=0, help="how often to kill a preparation of the smallest size")
    parser.add_argument("--until", type=float, default=float("inf"), help="begin no further size after so many seconds")
    parser.add_argument("--out", type=Path, help="a .png or .svg to draw it")
    parser.add_argument("--record", type=Path, help="a .jsonl to which each size is added when it is done")
    parser.add_argument("--draw", type=Path, help="draw what such a file holds, and measure nothing")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the name of what a process of its own prepares
    given = parser.parse_args()
    if given.one:
        prepare_one(given)
        return
    if given.draw:
        found = [json.loads(line) for line in given.draw.read_text().splitlines()]
    else:
        found = measure_all(given)
        if given.kills:
            kill_and_compare(given)
    found.sort(key=itemgetter("pairs"))
    say_table(["pairs", *STEPS.values(), "seconds in all", "MB main", "MB worker", "MB tokeniser"], map(_row, found))
    if len(found) > 1:
        seconds, main, worker = (
            _line(found, [each["seconds"] for each in found]),
            *(_line(found, [each["memory"][name] for each in found]) for name in ("main", "worker")),
        )
        print(
            f"straight on to {MOST} million: {seconds / 3600:.1f} hours, {main:,.0f} MB main, {worker:,.0f} MB a worker"
        )
    if given.out:
        draw(found, given.out)


def measure_all(given: argparse.Namespace) -> list[dict[str, Any]]:
    began, found = time.perf_counter(), []
    for pairs in given.pairs:
        if time.perf_counter() - began > given.until:
            print(f"no time for {pairs:,}")
            break
        write_pairs(given.folder, pairs, given.processes)
        found.append(measure(given, pairs))
        print(found[-1], flush=True)
        if given.record:
            with given.record.open("a") as file:
                file.write(json.dumps(found[-1]) + "\n")
        if pairs != min(given.pairs) or not given.kills:
            remove(given.folder, pairs)
    return found


def remove(folder: Path, pairs: int) -> None:
    shutil.rmtree(folder / f"{pairs}.prepared")
    for side in ("src", "tgt"):
        (folder / f"{pairs}.{side}").unlink()


def prepare_one(given: argparse.Namespace) -> None:
    """What a process of its own does: prepare, and say which step it is at."""
    from regard.data.corpora.options import PairData
    from regard.data.corpora.prepare import prepare

    began, pairs = time.perf_counter(), given.pairs[0]
    ends: dict[str, float] = {}
    spoke = 0.0

    def progress(what: str, done: int, total: int | None) -> None:
        nonlocal spoke
        now = time.perf_counter() - began
        if what not in ends:
            print(what, flush=True)
        elif now - spoke > SPEAK_EVERY:
            spoke = now
            print(f"{done:,} pairs after {now:.0f} s", flush=True)
        ends[what] = now

    data = check(PairData, _data(given, pairs))
    prepared = prepare(data, given.folder / f"{given.one}.prepared", progress)
    # Each step takes from the end of the one before to its own; the second begins by judging.
    starts = [0.0, *ends.values()]
    steps = {STEPS[what]: end - start for (what, end), start in zip(ends.items(), starts, strict=False)}
    steps["seconds"] = time.perf_counter() - began
    print(json.dumps(steps | {"kept": len(prepared.train)}), flush=True)


def _data(given: argparse.Namespace, pairs: int) -> dict[str, Any]:
    return {
        "train": [str(given.folder / f"{pairs}.src"), str(given.folder / f"{pairs}.tgt")],
        "tokeniser": {"kind": "bpe", "vocabulary": given.vocabulary},
        "processes": given.processes,
    }


def command(given: argparse.Namespace, pairs: int, name: str) -> list[str]:
    options = {"pairs": pairs, "processes": given.processes, "vocabulary": given.vocabulary}
    flags = [part for option, value in options.items() for part in (f"--{option}", str(value))]
    return [sys.executable, __file__, str(given.folder), "--one", name, *flags]


def measure(given: argparse.Namespace, pairs: int) -> dict[str, Any]:
    """The seconds of each step and the peaks of memory in MB."""
    with subprocess.Popen(command(given, pairs, str(pairs)), stdout=subprocess.PIPE, text=True) as process:
        peaks = Peaks(process.pid)
        assert process.stdout is not None
        line = ""
        for line in process.stdout:
            peaks.step = STEPS.get(line.strip(), peaks.step)
            memory = ", ".join(f"{name} {most:.0f}" for name, most in peaks.found.items())
            print(f"{pairs:,}: {line.strip()} (MB: {memory})", flush=True)  # in case that it never ends
        peaks.ended = True
    return {"pairs": pairs, "processes": given.processes, **json.loads(line), "memory": peaks.found}


class Peaks(Thread):
    """Looks again and again at how much memory a process and its children have."""

    def __init__(self, number: int) -> None:
        super().__init__(daemon=True)
        self._number, self.ended, self.step = number, False, "reading"
        self.found = dict.fromkeys(MEMORIES, 0.0)
        self.start()

    def run(self) -> None:
        while not self.ended:
            child = "tokeniser" if self.step == "tokeniser" else "worker"
            self._note("main", self._number)
            for number in children(self._number):
                self._note(child, number)
            time.sleep(SAMPLE_EVERY)

    def _note(self, name: str, number: int) -> None:
        self.found[name] = max(self.found[name], resident(number))


def resident(number: int) -> float:
    """The memory of a process in MB; none if it has ended."""
    try:
        pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * resource.getpagesize() / 1e6


def children(number: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{number}/task/{number}/children").read_text().split()]
    except OSError:
        return []


def kill_and_compare(given: argparse.Namespace) -> None:
    """Prepare the smallest size once more, killed at random moments, and compare it with the first time."""
    pairs, draws = min(given.pairs), random.Random(1)
    whole = json.loads((given.folder / f"{pairs}.prepared" / "finished.json").read_text())
    whole_seconds = time.perf_counter()
    for _ in range(given.kills):
        process = subprocess.Popen(
            command(given, pairs, f"{pairs}-killed"), stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(draws.uniform(2, 12))
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    subprocess.run(command(given, pairs, f"{pairs}-killed"), stdout=subprocess.DEVNULL, check=True)
    again = json.loads((given.folder / f"{pairs}-killed.prepared" / "finished.json").read_text())
    outcome = "the same to the byte" if again["files"] == whole["files"] else "NOT the same"
    print(f"{pairs:,} pairs, killed up to {given.kills} times, {time.perf_counter() - whole_seconds:.0f} s: {outcome}")
    shutil.rmtree(given.folder / f"{pairs}-killed.prepared")
    remove(given.folder, pairs)


def _row(found: dict[str, Any]) -> list[str]:
    steps = [f"{found.get(name, 0):.0f}" for name in STEPS.values()]
    memory = [f"{most:,.0f}" for most in found["memory"].values()]
    return [f"{found['pairs']:,}", *steps, f"{found['seconds']:.0f}", *memory]


def _line(found: list[dict[str, Any]], values: list[float]) -> float:
    """Where the straight line through the last two sizes arrives at MOST million pairs."""
    (before, after), (low, high) = (each["pairs"] for each in found[-2:]), values[-2:]
    return high + (high - low) / (after - before) * (MOST * 1e6 - after)


def draw(found: list[dict[str, Any]], path: Path) -> None:
    """Seconds of the steps, and memory of the processes, by the number of pairs."""
    processes = found[0]["processes"]
    titles = (f"seconds, {processes} worker processes", "most memory of a process, MB")
    millions = [each["pairs"] / 1e6 for each in found]
    with canvas(titles):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for axes, title in zip((left, right), titles, strict=True):
            axes.set_title(title, color=INK, fontsize=10)
            axes.set_xlabel("million pairs", color=INK)
        ends = [0.0] * len(found)
        for name, colour in zip(STEPS.values(), PALETTE, strict=False):
            starts, ends = ends, [end + each.get(name, 0) for end, each in zip(ends, found, strict=True)]
            left.fill_between(millions, starts, ends, color=colour, alpha=0.6, linewidth=0, label=name)
        left.plot(millions, [each["seconds"] for each in found], "o-", color=INK, markersize=4, label="in all")
        for (name, label), colour in zip(MEMORIES.items(), PALETTE, strict=False):
            right.plot(
                millions, [each["memory"][name] for each in found], "o-", color=colour, markersize=4, label=label
            )
        for axes in (left, right):
            axes.set_xlim(0, None)
            axes.set_ylim(0, None)
            axes.legend(frameon=False, fontsize=8, labelcolor=INK)
            axes.spines[["top", "right"]].set_visible(False)
        save_figure(figure, path)


if __name__ == "__main__":
    main()
