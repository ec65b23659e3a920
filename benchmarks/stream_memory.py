"""How much memory `regard translate` takes as a stream of lines goes on and on.

    .venv/bin/python benchmarks/stream_memory.py runs/demo --lines 200000

Short sentences are fed to standard input, a portion at a time. The memory of the process is read when a portion has
come out and before the next goes in, so that it does nothing meanwhile; every ten portions a line says the least, the
middle and the most there was after one of them, and the most there ever was.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from regard.verbs.translate.unfinished import PORTION

SUBJECTS = ["I", "you", "he", "she", "we", "they", "dogs", "cats", "books"]
TOGETHER = 10  # portions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end it after so many")
    given = parser.parse_args()
    command = [sys.executable, "-m", "regard", "translate", str(given.model), "--beam", "1"]
    draw, began, readings = random.Random(1), time.monotonic(), list[float]()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(1, given.lines // PORTION + 1):
            process.stdin.writelines(sentence(draw) for _ in range(PORTION))
            process.stdin.flush()
            for _ in islice(process.stdout, PORTION):
                pass
            readings.append(memory(process.pid, "VmRSS"))
            if number % TOGETHER == 0:
                least, middle, most = min(readings), statistics.median(readings), max(readings)
                ever, seconds = memory(process.pid, "VmHWM"), time.monotonic() - began
                print(
                    f"{number * PORTION:,} lines: {least:.0f}, {middle:.0f}, {most:.0f} MiB after a portion, "
                    f"{ever:.0f} MiB ever; {seconds:.0f} s",
                    flush=True,
                )
                readings.clear()
            if time.monotonic() - began > 60 * given.minutes:
                break


def sentence(draw: random.Random) -> bytes:
    return f"{draw.choice(SUBJECTS)} {draw.randrange(10)}\n".encode()


def memory(number: int, name: str) -> float:
    """What Linux tells of a process's memory, in MiB: VmRSS what it has now, VmHWM the most it ever had."""
    lines = Path(f"/proc/{number}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


if __name__ == "__main__":
    main()
