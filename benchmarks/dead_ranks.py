"""Ranks that die, stop, leave or fail at random times: is each noticed within 30 seconds, named, and nothing left?

    .venv/bin/python benchmarks/dead_ranks.py [TRIALS]

The demo is trained on three processes and goes on from trial to trial. To one of them, drawn by chance, one of four
things is done: SIGKILL, SIGSTOP, `os._exit` and an exception. Noted are the seconds until `regard train` has ended, its
sentence, and whether that names the rank, shows no traceback, has a status other than 0 and leaves no process behind.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

RANKS, LIMIT = 3, 30.0  # seconds
DEEDS = ("SIGKILL", "SIGSTOP", "os._exit", "exception")
SETTINGS = ("training.steps=1000000", "training.save_every=20", "training.validate_every=1000000", "model.width=64")
# In every rank a thread that waits for a file, and then does what no signal from outside can do.
SITE = """
import ctypes, os, threading, time
def wait(path):
    while not os.path.exists(path):
        time.sleep(0.05)
    if open(path).read() == "os._exit":
        os._exit(5)
    main = ctypes.c_ulong(threading.main_thread().ident)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(ZeroDivisionError))
if "RANK" in os.environ and "DEEDS" in os.environ:
    threading.Thread(target=wait, args=(f"{os.environ['DEEDS']}/{os.getpid()}",), daemon=True).start()
"""


def children(number: int) -> list[int]:
    """The processes that a process has started, in the order of their ranks."""
    listed = subprocess.run(["ps", "--ppid", str(number), "-o", "pid="], capture_output=True, text=True).stdout
    return sorted(map(int, listed.split()), key=_rank)


def _rank(number: int) -> int:
    variables = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
    return next((int(each[5:]) for each in variables if each.startswith(b"RANK=")), -1)


def is_there(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def await_training(log: Path, process: subprocess.Popen[bytes]) -> None:
    while "training from step" not in log.read_text():
        if process.poll() is not None:
            raise SystemExit(log.read_text())
        time.sleep(0.1)


def attempt(place: Path, deed: str, rank: int, wait: float) -> tuple[float, str, bool]:
    """One trial: the seconds until the end, what was said at last, and whether all is as it should be."""
    log = place / "log"
    chosen = [part for setting in SETTINGS for part in ("--set", setting)]
    begun = (place / "run" / "recipe.toml").exists()
    line = ["demo", *chosen, "--out", str(place / "run"), "--processes", str(RANKS), *(["--resume"] if begun else [])]
    variables = os.environ | {"DEEDS": str(place), "PYTHONPATH": f"{place}:{os.environ.get('PYTHONPATH', '')}"}
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-m", "regard", "train", *line], stderr=file, env=variables)
    await_training(log, process)
    time.sleep(wait)
    ranks = [number for number in children(process.pid) if _rank(number) >= 0]
    start = time.monotonic()
    if deed.startswith("SIG"):
        os.kill(ranks[rank], getattr(signal, deed))
    else:
        (place / str(ranks[rank])).write_text(deed)
    status = process.wait(timeout=300)
    seconds, text = time.monotonic() - start, log.read_text()
    said = text.splitlines()[-1]
    is_named = bool(re.match(rf"(regard: )?Rank {rank} of {RANKS} ", said)) and "Traceback" not in text
    return seconds, said, is_named and status != 0 and seconds < LIMIT and not any(map(is_there, ranks))


def main(trials: int) -> None:
    chance, right = random.Random(1), 0
    with TemporaryDirectory() as name:
        (Path(name) / "sitecustomize.py").write_text(SITE)
        for trial in range(trials):
            deed, rank = DEEDS[trial % len(DEEDS)], chance.randrange(RANKS)
            seconds, said, is_right = attempt(Path(name), deed, rank, chance.uniform(0.0, 5.0))
            right += is_right
            print(f"{trial + 1:2}  {deed:9}  rank {rank}  {seconds:4.1f} s  {'right' if is_right else 'WRONG'}  {said}")
            sys.stdout.flush()
    print(f"{right} of {trials} noticed within {LIMIT:.0f} seconds, named, and nothing left behind")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="?", type=int, default=20)
    main(parser.parse_args().trials)
