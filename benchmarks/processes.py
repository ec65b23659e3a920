"""Training on several processes: the same bits, begun and resumed on 1, 2 and 4, and the efficiency of two.

    .venv/bin/python benchmarks/processes.py [bits] [efficiency] [dry-runs]

Bits: the demo's model with dropout, its batches in four pieces, is trained without a stop on one process; then begun on
P processes and resumed on Q, for all nine pairs of 1, 2 and 4, and the bytes of the weights are compared.

Efficiency: tokens a second on two processes and two cores, beside one process on one core that works through the same
two pieces one after the other; 100% would be twice as many. The cores should have nothing else to do.

Dry runs: seconds that a check for 128 processes takes on one core, of the demo and of wmt14-en-de on invented text.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from wmt_text import write_pairs

PARTS = ("bits", "efficiency", "dry-runs")
SIZES = (1, 2, 4)
STEPS, ROUNDS = 24, 3  # of a training that is timed
QUICK = {
    "training.steps": 8,
    "training.save_every": 4,
    "training.validate_every": 8,
    "training.pieces": 4,
    "training.batch_tokens": 512,
    "training.validation_beam": 0,
    "model.dropout": 0.1,
}
TIMED = {
    "training.steps": STEPS,
    "training.validate_every": 10_000,
    "training.pieces": 2,
    "training.batch_tokens": 4096,
    "training.validation_beam": 0,
}


def train(folder: Path, processes: int, settings: dict[str, float], cores: set[int], *more: str) -> None:
    """Train the demo on so many processes, which may use these cores."""
    chosen = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    line = [*more, *chosen, "--set", "training.device=cpu", "--out", str(folder), "--processes", str(processes)]
    subprocess.run(
        [sys.executable, "-m", "regard", "train", *line],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )


def weights(folder: Path) -> bytes:
    return (folder / "weights.safetensors").read_bytes()


def compare_bits(place: Path, cores: set[int]) -> None:
    train(place / "whole", 1, QUICK, cores, "demo")
    equal = 0
    for begun in SIZES:
        for resumed in SIZES:
            folder = place / f"{begun}-{resumed}"
            train(folder, begun, QUICK | {"training.steps": 4}, cores, "demo")
            train(folder, resumed, {"training.steps": 8}, cores, "--resume")
            same = weights(folder) == weights(place / "whole")
            equal += same
            print(f"begun on {begun}, resumed on {resumed}: {'the same bits' if same else 'OTHER BITS'}", flush=True)
    print(f"{equal} of {len(SIZES) ** 2}")


def measure_efficiency(place: Path, cores: list[int]) -> None:
    ratios = []
    for number in range(ROUNDS):
        rates = []
        for processes in (1, 2):
            folder = place / f"timed-{number}-{processes}"
            train(folder, processes, TIMED, set(cores[:processes]), "demo")
            kept = json.loads((folder / "training" / "pace.json").read_bytes())
            rates.append(kept["items"] / kept["seconds"])
        ratios.append(rates[1] / (2 * rates[0]))
        print(f"one: {rates[0]:,.0f} tokens/s, two: {rates[1]:,.0f} tokens/s: {ratios[-1]:.0%}", flush=True)
    print(f"efficiency at two processes: {median(ratios):.0%}, the median of {ROUNDS}")


def time_dry_runs(place: Path, core: int) -> None:
    source, target = write_pairs(place, 20_000)
    text = [f'data.train=["{source}", "{target}"]', "data.valid=[]", "data.test=[]"]
    for name, settings in (("demo", []), ("wmt14-en-de", text)):
        line = ["train", name, "--dry-run", "--processes", "128"]
        line += [part for setting in settings for part in ("--set", setting)]
        begun, before = time.monotonic(), _processor_seconds()
        subprocess.run(
            [sys.executable, "-m", "regard", *line],
            check=True,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        seconds = time.monotonic() - begun
        print(f"{name}: {_processor_seconds() - before:.1f} s of the processor, {seconds:.1f} s in all", flush=True)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    asked, available = parser.parse_args().parts or PARTS, sorted(os.sched_getaffinity(0))
    os.environ["OMP_NUM_THREADS"] = "1"
    with TemporaryDirectory() as name:
        if "bits" in asked:
            compare_bits(Path(name), set(available))
        if "efficiency" in asked:
            measure_efficiency(Path(name), available)
        if "dry-runs" in asked:
            time_dry_runs(Path(name), available[0])
