"""How much memory `regard translate` takes as a stream of lines goes on and on.

    .venv/bin/python benchmarks/stream_memory.py runs/demo --lines 200000

Short sentences are fed to standard input, and the memory of the process is read after each portion that comes out;
every ten portions a line says the most there has been so far, after a portion and in between.
"""

import argparse
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from regard.cli.unfinished import PORTION

SUBJECTS = ["I", "you", "he", "she", "we", "they", "dogs", "cats", "books"]
EVERY = 10 * PORTION  # lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end it after so many")
    given = parser.parse_args()
    command = [sys.executable, "-m", "regard", "translate", str(given.model), "--beam", "1"]
    began, most = time.monotonic(), 0.0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        Thread(target=feed, args=(process.stdin, given.lines), daemon=True).start()
        for number, _ in enumerate(process.stdout, 1):
            if number % PORTION == 0:
                most = max(most, memory(process.pid, "VmRSS"))
            if number % EVERY == 0:
                peak = memory(process.pid, "VmHWM")
                print(f"{number:,} lines: {most:.0f} MiB after a portion, {peak:.0f} MiB in between", flush=True)
            if time.monotonic() - began > 60 * given.minutes:
                process.kill()
                break


def feed(stream: IO[bytes], lines: int) -> None:
    draw = random.Random(1)
    with suppress(BrokenPipeError), stream:
        for _ in range(lines):
            stream.write(f"{draw.choice(SUBJECTS)} {draw.randrange(10)}\n".encode())


def memory(number: int, name: str) -> float:
    """What Linux tells of a process's memory, in MiB: VmRSS what it has now, VmHWM the most it ever had."""
    lines = Path(f"/proc/{number}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


if __name__ == "__main__":
    main()
