"""A large file translated by workers of which one after another is killed, beside one process that is left alone.

The lines are those of the demo's grammar, some of them empty. Workers are killed (SIGKILL) at random, a given number of
times, spread over the job by how much of the output is there. In the end the two outputs are compared byte by byte, and
the lines that workers began to translate are counted, those of killed workers among them.

    .venv/bin/python benchmarks/bulk.py runs/demo --lines 1000000 --workers 4 --kills 20
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Thread

from regard.console import say_table
from regard.data.demo.corpus import pairs
from regard.verbs.translate.unfinished import PORTION

EMPTY = 0.01  # of all lines
LINE_END = b"\n"
LOOK = 0.02  # seconds between two looks at how much is there


def write_lines(path: Path, count: int, seed: int) -> None:
    """So many sentences of the demo, drawn at random."""
    draw, sentences = random.Random(seed), [english for english, _ in pairs("train")]
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            file.write("\n" if draw.random() < EMPTY else f"{draw.choice(sentences)}\n")


def command(model: Path, source: Path, out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "regard", "translate", str(model), str(source), "-o", str(out), "--beam", "1", *more]


def workers_of(process: int) -> list[int]:
    """The worker processes of a job."""
    with suppress(OSError):
        children = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
        return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return []


def written(folder: Path) -> int:
    """Bytes of translations that are there, whole shards and those on their way."""
    total = 0
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.endswith(".unfinished") or (path.suffix == "" and "-of-" in path.name):
                with suppress(OSError):
                    total += path.stat().st_size
    return total


def kill_now_and_then(process: "subprocess.Popen[bytes]", folder: Path, moments: Sequence[float], seed: int) -> int:
    """Kill a random worker whenever so many bytes are written; gives how many were killed."""
    draw, killed, left = random.Random(seed), 0, sorted(moments)
    while process.poll() is None:
        time.sleep(LOOK)
        if left and written(folder) >= left[0] and (workers := workers_of(process.pid)):
            os.kill(draw.choice(workers), signal.SIGKILL)
            killed += 1
            left.pop(0)
    return killed


class Alone:
    """A plain command for each part of the file, none of which knows of shards; one part is one process for all of it.

    A million lines are half an hour's work for one core, so several parts may be translated side by side. They are cut
    where one process begins a portion, for it batches the lines of a portion together, and what they write is compared
    in a row.
    """

    def __init__(self, model: Path, source: Path, parts: int) -> None:
        lines = source.read_bytes().splitlines(keepends=True)
        starts = [number * len(lines) // parts // PORTION * PORTION for number in range(parts)]
        self.outs, self._processes = list[Path](), list["subprocess.Popen[bytes]"]()
        self._began, self.seconds = time.monotonic(), 0.0
        for number, (first, end) in enumerate(pairwise([*starts, len(lines)]), 1):
            part = source.with_name(f"part-{number}")
            part.write_bytes(b"".join(lines[first:end]))
            self.outs.append(source.with_name(f"alone-{number}"))
            self._processes.append(subprocess.Popen(command(model, part, self.outs[-1]), stderr=subprocess.DEVNULL))
        self._watching = Thread(target=self._watch, daemon=True)  # its end is noticed also while others are waited for
        self._watching.start()

    def _watch(self) -> None:
        for process in self._processes:
            process.wait()
        self.seconds = time.monotonic() - self._began

    def wait(self) -> None:
        self._watching.join()
        if any(process.returncode for process in self._processes):
            sys.exit("one of the commands failed")

    def has_written(self, together: Path) -> bool:
        """Whether what the workers wrote is what these commands wrote, byte by byte."""
        with together.open("rb") as file:
            same = [file.read(out.stat().st_size) == out.read_bytes() for out in self.outs]
            return all(same) and not file.read(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the files are written, and stay")
    parser.add_argument("--beside", action="store_true", help="let the one process run at the same time")
    parser.add_argument("--parts", type=int, default=1, help="parts that one process each translates for comparison")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        measure(given, given.folder or Path(temporary))


def measure(given: argparse.Namespace, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    source, together = folder / "lines", folder / "together"
    write_lines(source, given.lines, given.seed)
    alone = Alone(given.model, source, given.parts)
    if not given.beside:
        alone.wait()
    draw, size = random.Random(given.seed), source.stat().st_size
    moments = [draw.uniform(0.01, 0.8) * size for _ in range(given.kills)]
    began = time.monotonic()
    asked = command(given.model, source, together, "--workers", str(given.workers))
    with (folder / "together.log").open("wb") as log:
        job = subprocess.Popen(asked, stderr=log)
    killed = kill_now_and_then(job, folder / "together.shards", moments, given.seed)
    seconds = time.monotonic() - began
    said = (folder / "together.log").read_text(encoding="utf-8")
    print(said, file=sys.stderr, flush=True)
    if job.returncode:
        sys.exit("the job of the workers failed")
    counted = re.search(r"([\d,]+) lines were translated", said)
    begun = int(counted[1].replace(",", "")) if counted else given.lines
    row = [f"{given.workers} workers", f"{seconds:.0f}", str(killed), f"{begun:,}", f"{begun / given.lines:.3f}"]
    print(*row, f"{together.read_bytes().count(LINE_END):,} lines", sep="; ", flush=True)  # before it is compared
    if given.beside:
        alone.wait()
    plain = "one process" if given.parts == 1 else f"{given.parts} processes, a part each"
    say_table(
        ["way", "seconds", "killed", "lines translated", "times each", "bytes"],
        [
            [plain, f"{alone.seconds:.0f}", "0", f"{given.lines:,}", "1.000", "–"],
            [*row, "the same" if alone.has_written(together) else "DIFFERENT"],
        ],
    )


if __name__ == "__main__":
    main()
