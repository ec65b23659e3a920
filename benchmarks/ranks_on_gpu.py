"""Training on ranks that have a GPU: do their losses agree with those of a plain run, to the precision of bf16?

    .venv/bin/python benchmarks/ranks_on_gpu.py LOGS

The demo with dropout, its batches in two pieces, is trained for some steps in every way that one GPU allows: without
ranks; as one rank over nccl, started by hand, by torchrun, and sharded; as two ranks that share the GPU over gloo,
started by hand and by `--processes 2`. All of them run at once. Noted are the backend, how many passes were replayed
from captured ones and how many were not, the largest difference of a training loss from that of the run without ranks,
and the loss of the validation. How much bf16 itself changes is told by a run in float32.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from regard.training.checkpoint import RunFolder
from regard.training.snapshot import Facts

SETTINGS = {
    "data.tokeniser.kind": "words",  # which is soon trained
    "training.validate_every": 10_000,  # and at the end
    "training.save_every": 10_000,
    "training.pieces": 2,
    "training.batch_tokens": 4096,
    "training.validation_beam": 0,
    "model.dropout": 0.1,
}
# `regard`, which says at its end over what it talked to other ranks and how its passes went.
COUNTED = """
import atexit
import torch.distributed as dist
from regard.training.passes import Passes
notes = {"backend": "-", "replayed": 0, "plain": 0}
def count(name, method):
    def counted(*given):
        notes[name] += 1
        return method(*given)
    return counted
def begin(backend, *, of=dist.init_process_group, **more):
    notes["backend"] = backend
    of(backend, **more)
Passes.replay, Passes.plainly = count("replayed", Passes.replay), count("plain", Passes.plainly)
dist.init_process_group = begin
atexit.register(lambda: print("NOTES", notes["backend"], notes["replayed"], notes["plain"]))
from regard.cli import run
run()
"""
BY_HAND, BY_MODULE = [sys.executable, "-c", COUNTED], [sys.executable, "-m", "regard"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", "-m", "regard"]


class Way:
    """A way to train the demo, and the processes that try it: so many ranks started by hand, or a single command."""

    def __init__(self, name: str, ranks: int, command: list[str], *more: str) -> None:
        self.name, self.ranks, self.command, self.more = name, ranks, command, more
        self.processes: list[subprocess.Popen[bytes]] = []
        self.seconds = 0.0  # that it took

    def start(self, steps: int, place: Path, logs: Path) -> None:
        self.folder, self.log = place / self.name, logs / f"{self.name}.log"
        chosen = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
        chosen += [
            "--set",
            f"training.steps={steps}",
            "--set",
            f"data.prepared={place / 'data'}",
        ]  # by whoever is first
        line = [*self.command, "train", "demo", *chosen, *self.more, "--out", str(self.folder)]
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(self.ranks)}
        for rank in range(self.ranks or 1):
            own = address | {"RANK": str(rank), "LOCAL_RANK": str(rank)} if self.ranks else {}
            with (self.log if rank == 0 else logs / f"{self.name}, rank {rank}.log").open("wb") as file:
                process = subprocess.Popen(
                    line, stdout=file, stderr=subprocess.STDOUT, env=os.environ | own, start_new_session=True
                )
            self.processes.append(process)

    def look(self, seconds: float, limit: float) -> bool:
        """Whether it has ended, so long after its start; at the limit it is ended."""
        alive = [process for process in self.processes if process.poll() is None]
        for process in alive if seconds > limit else []:
            os.killpg(process.pid, signal.SIGKILL)
        self.seconds = seconds
        return not alive

    def facts(self) -> Facts:
        """What its last checkpoint tells, if there is one."""
        return RunFolder(self.folder).facts() or Facts()

    def describe(self, plain: Facts) -> str:
        """A row of the table, in which the losses of the steps stand beside those of the plain run."""
        own, lines = self.facts(), self.log.read_text(errors="replace").splitlines()
        statuses = [process.returncode for process in self.processes]
        if any(statuses) or not own.losses or len(own.losses) != len(plain.losses):
            said = " ".join(lines[-1:])[:300]
            return f"| {self.name} | FAILED with {statuses} after step {own.step} of {plain.step}: {said} |"
        notes = next((line for line in lines if line.startswith("NOTES ")), "NOTES - - -").split()[1:]
        most = max(abs(one - other) for (_, one), (_, other) in zip(own.losses, plain.losses, strict=True))
        (_, last), (_, validation) = own.losses[-1], own.validations[-1]
        return (
            f"| {self.name} | {notes[0]} | {notes[1]} replayed, {notes[2]} plain | {most:.1e} | {last:.5f} | "
            f"{validation['loss']:.5f} | {self.seconds:.0f} s |"
        )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


WAYS = [
    Way("without ranks", 0, BY_HAND),
    Way("without ranks, once more", 0, BY_HAND),
    Way("without ranks, in float32", 0, BY_HAND, "--set", "training.precision=float32"),
    Way("one rank", 1, BY_HAND),
    Way("one rank by torchrun", 0, TORCHRUN),
    Way("two ranks", 2, BY_HAND),
    Way("two ranks by --processes", 0, BY_MODULE, "--processes", "2"),
    Way("one rank, sharded", 1, BY_HAND, "--set", "training.sharded=true"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", type=Path, help="where the logs go")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which all are ended")
    asked = parser.parse_args()
    asked.logs.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        begun = time.monotonic()
        for way in WAYS:
            way.start(asked.steps, Path(place), asked.logs)
        running = WAYS
        while running:
            time.sleep(0.2)
            running = [way for way in running if not way.look(time.monotonic() - begun, asked.limit)]
        plain = WAYS[0].facts()
        print("| way | backend | passes | largest difference of a loss | last loss | loss of the validation | time |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for way in WAYS:
            print(way.describe(plain))


if __name__ == "__main__":
    main()
