"""Files read by one reader, each in a process that is bounded and measured.

    python tests/hostile/hostile_runner.py samples                  reads each of the samples
    python tests/hostile/hostile_runner.py READER mutations N SEED  reads so many damaged copies of its honest file

The process reads the honest file of a reader first, so that all modules are there, and forks for each of the others. It
prints what became of each as a line of JSON.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
FREE_MEGABYTES, TIMES_THE_FILE, SECONDS = 200, 4, 10  # limits for every file
_ENDED = 60  # seconds after which a reader is stopped
_LARGEST_SEALED = 10**9  # bytes of a file; the checksum of a larger one takes too long
_MOST_MEMORY = 6 << 30  # bytes; a reader that needs more gets a MemoryError


Change = tuple[str, Callable[[Path], None]]  # the name of a change, and its effect on a file


@dataclass(frozen=True)
class Outcome:
    """Outcome of reading a file: "accepted", "refused", "fault" (of regard's own) or "crashed"; why, and its cost."""

    name: str
    kind: str
    reason: str
    seconds: float  # processor time
    megabytes: float  # beyond the process's own
    size: int  # bytes of the file

    @property
    def is_bounded(self) -> bool:
        """Return True if it took no more time and memory than any file may."""
        allowed = FREE_MEGABYTES + TIMES_THE_FILE * self.size / 1e6
        return self.seconds <= SECONDS and self.megabytes <= allowed

    @property
    def is_right(self) -> bool:
        """Return True if it was read or refused within the limits."""
        return self.kind in ("accepted", "refused") and self.is_bounded


def read_samples(*names: str) -> list[Outcome]:
    """Read the samples of these names, each in a bounded process."""
    return list(_run("samples", *names))


def read_mutations(reader: str, count: int, seed: int = 0) -> Iterator[Outcome]:
    """Read this many damaged copies of the reader's honest file, each in a bounded process."""
    return _run(reader, "mutations", str(count), str(seed))


def _run(*arguments: str) -> Iterator[Outcome]:
    paths = [TESTS.parent, TESTS, TESTS / "hostile", TESTS / "engines", TESTS / "data"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "OMP_NUM_THREADS": "1",
        "NUMBA_DISABLE_JIT": "1",
    }
    command = [sys.executable, "-W", "ignore", __file__, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield Outcome(**json.loads(line))
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {process.returncode}")


def main(name: str, *arguments: str) -> None:
    from hostile_samples import SAMPLES

    if name != "samples":
        _, count, seed = arguments
        _read_changed(name, partial(_mutations, count=int(count), seed=int(seed)))
        return
    for reader in dict.fromkeys(SAMPLES[title].reader for title in arguments):
        changes = [(title, SAMPLES[title].write) for title in arguments if SAMPLES[title].reader == reader]
        _read_changed(reader, lambda content, files=changes: iter(files))


def _mutations(content: bytes, count: int, seed: int) -> Iterator[Change]:
    from hostile_mutations import mutations

    for number, damaged in enumerate(mutations(content, count, seed)):
        yield str(number), partial(_put, content=damaged)


def _read_changed(name: str, changes: Callable[[bytes], Iterator[Change]]) -> None:
    """Read the honest file of a reader with each of some changes, which receive its content."""
    from hostile_readers import READERS

    reader = READERS[name]
    with tempfile.TemporaryDirectory() as place:
        honest = reader.make(Path(place))
        reader.read(honest)
        content = honest.read_bytes()
        for title, change in changes(content):
            honest.write_bytes(content)
            change(honest)
            if reader.seal is not None and _size(honest) < _LARGEST_SEALED:
                reader.seal(honest)
            outcome = _measure(name, title, honest)
            if (folder_kept := os.environ.get("HOSTILE_KEPT")) and not outcome.is_right:
                shutil.copy(honest, Path(folder_kept, f"{name}, {title}{honest.suffix}"))
            print(json.dumps(asdict(outcome)), flush=True)


def _put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _measure(name: str, title: str, file: Path) -> Outcome:
    """Read a file in a fork of this process."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        os.write(send, json.dumps(_read(name, file)).encode()[:60_000])
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as stream:
        data = stream.read()
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    if status or not data:
        code = os.waitstatus_to_exitcode(status)
        reason = signal.Signals(-code).name if code < 0 else f"status {code}"
        return Outcome(title, "crashed", reason, seconds, used.ru_maxrss / 1e3, _size(file))
    kind, reason, megabytes = json.loads(data)
    return Outcome(title, kind, reason, seconds, megabytes, _size(file))


def _size(file: Path) -> int:
    return file.stat().st_size


def _read(name: str, file: Path) -> tuple[str, str, float]:
    """Read a file in this process, bounded from now on. Return the outcome, the reason and the megabytes."""
    from hostile_readers import READERS

    from regard.base.faults import Fault

    reader = READERS[name]
    signal.alarm(_ENDED)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + _MOST_MEMORY,) * 2)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # peak memory is counted from now on
    before = _status("VmRSS")
    kind, reason = "accepted", ""
    try:
        reader.read(file)
    except (Fault, *reader.refusals) as fault:
        kind, reason = "refused", str(fault)[:300]
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        kind, reason = "fault", f"{type(error).__name__}: {str(error)[:200]} ({place.filename}:{place.lineno})"
    megabytes = (_status("VmHWM") - before) / 1e6
    others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3 - reader.megabytes_of_a_process
    return kind, reason, round(max(megabytes, others), 1)


def _status(name: str) -> int:
    """Return a byte count that Linux keeps for this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1]) * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
