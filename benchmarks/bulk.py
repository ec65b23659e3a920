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
from pathlib import Path

from regard.cli.console import say_table
from regard.data.demo.corpus import pairs

EMPTY = 0.01  # of all lines
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


def kill_now_and_then(process: "subprocess.Popen[str]", folder: Path, moments: Sequence[float], seed: int) -> int:
    """Kill a random worker whenever so many bytes are written; gives how many were killed."""
    draw, killed, left = random.Random(seed), 0, sorted(moments)
    while process.poll() is None:
        time.sleep(LOOK)
        if left and written(folder) >= left[0] and (workers := workers_of(process.pid)):
            os.kill(draw.choice(workers), signal.SIGKILL)
            killed += 1
            left.pop(0)
    return killed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the files are written, and stay")
    parser.add_argument("--beside", action="store_true", help="let the one process run at the same time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        measure(given, given.folder or Path(temporary))


def measure(given: argparse.Namespace, folder: Path) -> None:
    source, alone, together = folder / "lines", folder / "alone", folder / "together"
    write_lines(source, given.lines, given.seed)
    began = time.monotonic()
    one = subprocess.Popen(command(given.model, source, alone), stderr=subprocess.DEVNULL)
    if not given.beside:
        one.wait()
        alone_took = time.monotonic() - began
    draw, size = random.Random(given.seed), source.stat().st_size
    moments = [draw.uniform(0.01, 0.9) * size for _ in range(given.kills)]
    began_together = time.monotonic()
    job = subprocess.Popen(
        command(given.model, source, together, "--workers", str(given.workers)), stderr=subprocess.PIPE, text=True
    )
    killed = kill_now_and_then(job, folder / "together.shards", moments, given.seed)
    together_took = time.monotonic() - began_together
    assert job.stderr is not None
    said = job.stderr.read()
    print(said, file=sys.stderr)
    if one.wait() or job.returncode:
        sys.exit("one of the commands failed")
    if given.beside:
        alone_took = time.monotonic() - began
    counted = re.search(r"([\d,]+) lines were translated", said)
    begun = int(counted[1].replace(",", "")) if counted else given.lines
    same = alone.read_bytes() == together.read_bytes()
    say_table(
        ["way", "seconds", "killed", "lines translated", "times each", "bytes"],
        [
            ["one process", f"{alone_took:.0f}", "0", f"{given.lines:,}", "1.000", "–"],
            [
                f"{given.workers} workers",
                f"{together_took:.0f}",
                str(killed),
                f"{begun:,}",
                f"{begun / given.lines:.3f}",
                "the same" if same else "DIFFERENT",
            ],
        ],
    )


if __name__ == "__main__":
    main()
