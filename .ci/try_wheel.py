"""A wheel tried as its users will have it: in a fresh environment, outside of any checkout."""

import json
import os
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

_OWN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "REGARD_DATA")  # what would bring in something from here
_SERVED_AFTER = 120  # seconds at most


class Trial:
    """A folder with an environment in which nothing but a wheel and what it needs is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs = folder, folder / "venv" / "bin"
        self.environment = {name: value for name, value in os.environ.items() if name not in _OWN}
        venv.create(folder / "venv", with_pip=True)

    def run(self, program: str, *words: str) -> str:
        """Run a program of the environment and return what it prints; one that fails ends the trial."""
        print(f"trial: {program} {' '.join(words)}", flush=True)
        command = [str(self.programs / program), *words]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, capture_output=True)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            raise SystemExit(f"trial: `{program} {' '.join(words)}` exits with {done.returncode}.")
        return done.stdout.strip()


def try_wheel(wheel: Path, version: str, constraints: Path, folder: Path) -> None:
    """Install a wheel into a fresh environment in `folder`, and do there what the first page of the README does."""
    folder.mkdir()
    trial = Trial(folder)
    trial.run("pip", "install", "--quiet", "--constraint", str(constraints), str(wheel))
    _expect("the version", trial.run("regard", "--version"), f"regard {version}")
    place = trial.run("python", "-c", "import regard; print(regard.__file__)")
    _expect("the place of the package", str(folder / "venv") in place, True)
    trial.run("regard", "doctor")
    for listing in (["recipes"], ["families"], ["data", "list"]):
        _expect(f"lines of {listing[0]}", len(trial.run("regard", *listing).splitlines()) > 10, True)
    trial.run("regard", "demo", "--out", "demo")
    _expect(
        "words of a translation", len(trial.run("regard", "translate", "demo", "--text", "I love books.")) > 3, True
    )
    _train_on_files(trial)
    _ask_server(trial, "demo", "I love books.")
    print(f"tried: {wheel.name} in {_installed(trial)}")


def _train_on_files(trial: Trial) -> None:
    """Train a translator on two text files, translate one of them and score the translation."""
    sentences = [f"{name} {verb} {thing} {when} ." for name, verb, thing, when in product(
        ("ana", "bela", "carlos", "davi"), ("sees", "wants", "has"), ("books", "bread", "water"), ("now", "today")
    )]  # fmt: skip
    (trial.folder / "small.en").write_text("".join(f"{line}\n" for line in sentences), encoding="utf-8")
    (trial.folder / "small.up").write_text("".join(f"{line.upper()}\n" for line in sentences), encoding="utf-8")
    sizes = ("--set", "model.preset=tiny", "--set", "training.steps=20", "--set", "training.batch_tokens=500")
    trial.run("regard", "train", "--source", "small.en", "--target", "small.up", "--out", "small", *sizes)
    trial.run("regard", "translate", "small", "small.en", "-o", "small.out")
    scores = json.loads(trial.run("regard", "score", "--hypothesis", "small.out", "--reference", "small.up", "--json"))
    _expect("scored lines", {score["n"] for score in scores["scores"]}, {len(sentences)})
    trial.run("regard", "look", "small", "--text", sentences[0], "-o", "small.svg")


def _ask_server(trial: Trial, model: str, text: str) -> None:
    """Serve a model on loopback, open its page and have a sentence translated."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with _served(trial, model, port):
        _await(f"{address}/health")
        _expect("the page", b"<html" in _ask(address), True)
        body = json.dumps({"q": text, "source": "en", "target": "pt"}).encode()
        request = Request(f"{address}/translate", body, {"Content-Type": "application/json"})
        _expect("a translation by the server", bool(json.loads(_ask(request))["translatedText"]), True)


@contextmanager
def _served(trial: Trial, model: str, port: int) -> Iterator[None]:
    print(f"trial: regard serve {model} --port {port}", flush=True)
    command = [str(trial.programs / "regard"), "serve", model, "--port", str(port)]
    with subprocess.Popen(command, cwd=trial.folder, env=trial.environment) as server:
        try:
            yield
        finally:
            server.terminate()


def _await(address: str) -> None:
    end = time.monotonic() + _SERVED_AFTER
    while True:
        try:
            _ask(address)
            return
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _ask(request: str | Request) -> bytes:
    with urlopen(request, timeout=60) as answer:
        return answer.read()


def _expect(what: str, value: object, expected: object) -> None:
    if value != expected:
        raise SystemExit(f"trial: {what}: {value!r}, expected {expected!r}.")


def _installed(trial: Trial) -> str:
    """Return how many packages an environment has, and how much room they take beside torch."""
    packages = json.loads(trial.run("pip", "list", "--format", "json"))
    (site,) = (trial.folder / "venv" / "lib").glob("python*/site-packages")
    sizes = {entry.name: _size(entry) for entry in site.iterdir()}
    torch = sum(size for name, size in sizes.items() if name.startswith(("torch", "nvidia", "triton")))
    return f"{len(packages)} packages, {(sum(sizes.values()) - torch) / 1e6:.0f} MB beside torch"


def _size(entry: Path) -> int:
    return sum(file.lstat().st_size for file in ([entry] if entry.is_file() else entry.rglob("*")))
