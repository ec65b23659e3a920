"""Works off a plan of runs: a TOML file of commands, several side by side, each with a log.

    nvidia-cuda-mps-control -d                                                  # where there is a GPU
    .venv/bin/python benchmarks/plan.py benchmarks/plan.toml --jobs 11 --minutes 27 --out runs/plan

Each table of the file is a job: `run`, its command for bash, in which `regard` and `python` are those of this checkout,
`$OUT` is the folder of the plan and `$MINUTES` what is left; `after`, jobs that must have succeeded; `needs`, the
minutes without which it is not begun. Jobs begin in the order of the file. At the end of the time those that still work
are interrupted as by Ctrl-C, so that trainings can be resumed. A job that has succeeded is not done again.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1]
PAUSE = 0.5  # seconds between two looks at what has ended
SPARED = 0.3  # minutes left over for what follows a training


@dataclass(frozen=True)
class Job:
    """A command of the plan."""

    name: str
    run: str
    after: tuple[str, ...] = ()
    needs: float = 1.0


def read_plan(path: Path) -> list[Job]:
    """The jobs of a file; one that waits for a job that is not there is refused."""
    table = tomllib.loads(path.read_text("utf-8"))
    jobs = [
        Job(name, each["run"], tuple(each.get("after", ())), each.get("needs", 1.0)) for name, each in table.items()
    ]
    for job in jobs:
        if missing := sorted(set(job.after) - table.keys()):
            sys.exit(f"{job.name} waits for {', '.join(missing)}, which the plan does not have.")
    return jobs


class Work:
    """The jobs of a plan, those that work, and how others ended."""

    def __init__(self, jobs: list[Job], out: Path, minutes: float) -> None:
        self.waiting, self.out = jobs, out
        self.end = time.monotonic() + 60 * minutes
        self.working: dict[str, subprocess.Popen[bytes]] = {}
        self.ended = {job.name: 0 for job in jobs if (out / f"{job.name}.done").exists()}

    @property
    def minutes(self) -> float:
        return (self.end - time.monotonic()) / 60

    def begin(self, most: int) -> None:
        """Begin jobs in their order while there is room; drop those that cannot be done any more."""
        for job in list(self.waiting):
            failed = any(self.ended.get(name, 0) for name in job.after)
            if job.name in self.ended or failed or self.minutes < job.needs:
                self.waiting.remove(job)
                if job.name not in self.ended:
                    self.say(f"{job.name} is left out: {'what it waits for failed' if failed else 'too little time'}")
                    self.ended[job.name] = 1
            elif len(self.working) < most and all(name in self.ended for name in job.after):
                self.waiting.remove(job)
                self.working[job.name] = self.start(job)
                self.say(f"{job.name} begins")

    def start(self, job: Job) -> subprocess.Popen[bytes]:
        places = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        names = {"PYTHONPATH": os.pathsep.join(places), "MINUTES": f"{self.minutes - SPARED:.2f}", "OUT": str(self.out)}
        command = f'set -e; python() {{ "{sys.executable}" "$@"; }}; regard() {{ python -m regard "$@"; }}; {job.run}'
        with (self.out / f"{job.name}.log").open("ab") as log:
            return subprocess.Popen(
                ["bash", "-c", command], stdout=log, stderr=log, env=os.environ | names, start_new_session=True
            )

    def collect(self) -> None:
        """Note the jobs that have ended."""
        for name, process in list(self.working.items()):
            if (status := process.poll()) is not None:
                self.ended[name] = status
                del self.working[name]
                if status == 0:
                    (self.out / f"{name}.done").touch()
                self.say(f"{name} ends with status {status}")

    def interrupt(self) -> None:
        for name, process in self.working.items():
            os.killpg(process.pid, signal.SIGINT)
            self.say(f"{name} is interrupted")
        for process in self.working.values():
            process.wait()

    def say(self, sentence: str) -> None:
        print(f"{self.minutes:6.1f} minutes left: {sentence}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--jobs", type=int, default=4, help="jobs that work at once")
    parser.add_argument("--minutes", type=float, required=True, help="time for all of them")
    parser.add_argument("--out", type=Path, default=Path("runs/plan"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    work = Work(read_plan(options.plan), options.out.resolve(), options.minutes)
    while work.minutes > 0 and (work.waiting or work.working):
        work.collect()
        work.begin(options.jobs)
        time.sleep(PAUSE)
    work.interrupt()


if __name__ == "__main__":
    main()
