"""How long short requests wait beside one request at the limits of each verb, and what memory that takes.

For each row a model is made: a toy of the tests in the sizes of a recipe, with weights of a few steps. A server of that
model alone is asked for something short, again and again, 0.2 seconds after each answer: first with nothing else to do,
then beside one request that is as large as the limits allow. The table has the longest wait of a short request in both
cases, what became of the large one and when, the megabytes of the server before it, at most, and two seconds after, and
the load of the machine in the minute before, to which the clients and the server themselves add about two.

    .venv/bin/python benchmarks/slow_verbs.py
    .venv/bin/python benchmarks/slow_verbs.py --only /v1/draw /v1/speak
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from PIL import Image
from serve_load import served
from slow_request import endless_model

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from regard.base.progress import silent
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train

EVERY = 0.2  # seconds from the answer to a short request to the next
IDLE, AFTER = 3.0, 2.0  # seconds of short requests alone, and of rest before memory is read again
COLUMNS = (
    "verb",
    "request",
    "bytes",
    "alone s",
    "beside s",
    "failed",
    "took s",
    "status",
    "MB",
    "most MB",
    "after MB",
    "load",
)
WIDTHS = (15, 34, 9, 8, 9, 8, 8, 7, 6, 8, 9, 5)
Json = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A model: what makes its folder, and a short request to it."""

    make: Callable[[Path], Path]
    path: str
    short: Json


@dataclass(frozen=True)
class Case:
    """A request at the limits of a verb, in words and in JSON, and the model that is asked.

    `first` is a small request to the same address that comes before all others, so that torch is loaded by then.
    """

    path: str
    request: str
    subject: Subject
    large: Callable[[], Json]
    first: Json | None = None


@dataclass
class Seen:
    """What clients saw of one server."""

    waits: list[float] = field(default_factory=list)
    failed: int = 0
    memory: list[float] = field(default_factory=list)


# Models


def toy(name: str, **model: Any) -> Callable[[Path], Path]:
    """A toy of the tests whose model has these sizes."""

    def make(folder: Path) -> Path:
        from toys import TOYS

        table, family = TOYS[name].table(folder), TOYS[name].family or name
        sizes = model if model else table["model"]
        return trained(folder, table | {"family": family, "model": sizes})

    return make


def trained(folder: Path, table: Json) -> Path:
    """A model folder of two steps."""
    training = {**table["training"], "steps": 2, "validate_every": 2, "save_every": 2}
    recipe = check_recipe({**table, "seed": 3, "training": training if "epochs" not in training else table["training"]})
    train(open_run(recipe, folder / "run", True, silent, lambda remark: None), [])
    return folder / "run"


def translator(folder: Path) -> Path:
    return endless_model(folder / "model", "tiny")


def captioner(folder: Path) -> Path:
    """A captioner as that of captions-shapes, which sees the pixels themselves."""
    training = {"device": "cpu", "final": "last", "batch": 4, "validation_beam": 0, "best_by": "loss"}
    data = {"features": "own", "side": 48, "at_least": 1, "shapes": {"train": 8, "valid": 2, "test": 2}}
    model = {"embedding": 64, "width": 128, "compared": 64, "encoder": {"channels": [16, 32, 64], "kernel": 5}}
    table = {"family": "captioner", "task": "captioning", "data": data, "model": model, "training": training}
    return trained(folder, table)


def writer(folder: Path) -> Path:
    """A language model that looks back at 256 tokens."""
    text = folder / "text.txt"
    text.write_text("a b c d e f g h i j\n" * 500, encoding="utf-8")
    data = {"train": str(text), "valid": str(text), "tokeniser": {"kind": "words"}}
    training = {"device": "cpu", "batch": 4, "optimizer": {"warmup": 1}}
    model = {"preset": "tiny", "context": 256}
    return trained(folder, {"family": "gpt", "data": data, "model": model, "training": training})


def many_words(folder: Path) -> Path:
    """Vectors of 20,000 words."""
    lines = [" ".join(f"w{line * 10 + place}" for place in range(10)) for line in range(2000)]
    text = folder / "text.txt"
    text.write_text("\n".join([*lines, *lines[:50]]) + "\n", encoding="utf-8")
    data = {"train": str(text), "valid": str(text), "tokeniser": {"kind": "words", "vocabulary": 20_004}}
    training = {"batch_words": 10_000, "epochs": 1, "save_every": 100}
    return trained(folder, {"family": "word2vec", "data": data, "model": {"width": 100}, "training": training})


# Requests


def encoded(content: bytes) -> str:
    return b64encode(content).decode()


def silence(seconds: float) -> Json:
    """A FLAC of silence, of which an hour has a few kilobytes."""
    file = BytesIO()
    soundfile.write(file, np.zeros(round(seconds * 8000), np.int16), 8000, format="FLAC")
    return {"sound": encoded(file.getvalue())}


@cache
def black(side: int) -> Json:
    """A black PNG, of which 16 million pixels have a few kilobytes."""
    file = BytesIO()
    Image.new("RGB", (side, side)).save(file, "PNG")
    return {"picture": encoded(file.getvalue())}


def flag() -> Json:
    """A picture of the size that the toys were trained on."""
    file = BytesIO()
    Image.new("L", (18, 18)).save(file, "PNG")
    return {"picture": encoded(file.getvalue())}


def some_words(count: int) -> list[str]:
    return [f"w{place}" for place in range(count)]


ENDLESS = {"prompt": "a", "when_full": "forget", "past_end": True}
SHORT_TEXT = {"text": "Ana reads.", "explain": False}
WORD = {"text": "a"}
BY_TORCH = {"engine": "torch"}
EVERY_WAY = {"method": "all", "trust": True}
CODES = {"source": "src", "target": "tgt"}
TRANSLATOR = Subject(translator, "/v1/translate", SHORT_TEXT)
LISTENER = Subject(toy("ctc", width=256, layers=2), "/v1/transcribe", {"sounds": [silence(0.3)]})
READER = Subject(
    toy("encoder", inputs={"width": 64}, width=128, layers=2, heads=4, feed_forward=256, pooling="attention"),
    "/v1/answer",
    {"inputs": ["a b"]},
)
SEER = Subject(toy("convnet", channels=[16, 32], width=128), "/v1/answer", {"inputs": [flag()]})
CAPTIONER = Subject(captioner, "/v1/caption", {"pictures": [black(48)]})
WRITER = Subject(writer, "/v1/generate", {"prompt": "a", "tokens": 5})
SPEAKER = Subject(toy("tacotron", frames=5), "/v1/speak", {"text": "a", "seconds": 0.2})
DRAWER = Subject(toy("draw", steps=64, width=256, latent=100, read=2, write=5), "/v1/draw", {"count": 1})
SKETCHER = Subject(
    toy("sketchformer", width=128, layers=3, heads=4, feed_forward=256, gaussians=10), "/v1/draw", {"count": 1}
)
LEXICON = Subject(many_words, "/v1/neighbours", {"words": "w1"})

CASES = (
    Case("/translate", "50,000 letters", TRANSLATOR, lambda: {"q": "a" * 50_000, **CODES}),
    Case("/v1/translate", "50,000 letters, beam 16", TRANSLATOR, lambda: {"text": "a" * 50_000, "beam": 16}),
    Case("/v1/translate", "2,000 letters", TRANSLATOR, lambda: {"text": "a" * 2000}),
    Case(
        "/v1/translate",
        "2,000 letters, by torch",
        TRANSLATOR,
        lambda: {"text": "a" * 2000, **BY_TORCH},
        BY_TORCH | WORD,
    ),
    Case(
        "/v1/translate",
        "2,000 letters, 64 samples",
        TRANSLATOR,
        lambda: {"text": "a" * 2000, "mbr": "chrf"},
        BY_TORCH | WORD,
    ),
    Case("/v1/next", "1 letter, the first look", TRANSLATOR, lambda: {"text": "a", "at": 0}),
    Case("/v1/attention", "250 letters", TRANSLATOR, lambda: {"text": "a" * 250, "heads": "mean"}, WORD),
    Case("/v1/next", "250 letters", TRANSLATOR, lambda: {"text": "a" * 250, "at": 0}, {**WORD, "at": 0}),
    Case("/v1/beam", "250 letters, beam 16", TRANSLATOR, lambda: {"text": "a" * 250, "beam": 16}, WORD),
    Case("/v1/forward", "60 letters, every layer", TRANSLATOR, lambda: {"text": "a" * 60}, WORD),
    Case("/v1/forward", "60 words, every layer", WRITER, lambda: {"text": "a b " * 30}, WORD),
    Case(
        "/v1/why", "30 letters, all methods", TRANSLATOR, lambda: {"input": "a" * 30, "method": "all"}, {"input": "a"}
    ),
    Case("/v1/why", "60 words, all methods", WRITER, lambda: {"input": "a b " * 30, "method": "all"}, {"input": "a"}),
    Case("/v1/examples", "none are allowed", TRANSLATOR, lambda: {"text": "a"}, WORD),
    Case("/v1/answer", "1 text of 50,000 letters", READER, lambda: {"inputs": ["a b " * 12_500]}),
    Case("/v1/answer", "1,000 texts of 50 letters", READER, lambda: {"inputs": ["a b c d e " * 5] * 1000}),
    Case("/v1/answer", "1,000 pictures", SEER, lambda: {"inputs": [flag()] * 1000}),
    Case("/v1/look", "60 s of sound", LISTENER, lambda: {"input": silence(60)}),
    Case("/v1/look", "a text of 50,000 letters", READER, lambda: {"input": "a b " * 12_500}),
    Case("/v1/generate", "1,000 tokens, 64 samples", WRITER, lambda: {"tokens": 1000, "samples": 64, **ENDLESS}),
    Case("/v1/prompt", "50,000 letters", WRITER, lambda: {"prompt": "a b " * 12_500, "when_full": "forget"}),
    Case("/v1/caption", "16 million pixels, beam 16", CAPTIONER, lambda: {"pictures": [black(4000)], "beam": 16}),
    Case("/v1/caption", "30 of them", CAPTIONER, lambda: {"pictures": [black(4000)] * 30, "beam": 16}),
    Case("/v1/caption", "49 million pixels", CAPTIONER, lambda: {"pictures": [black(7000)]}),
    Case("/v1/transcribe", "60 s of sound", LISTENER, lambda: {"sounds": [silence(60)]}),
    Case("/v1/transcribe", "60 s of sound, beam 16", LISTENER, lambda: {"sounds": [silence(60)], "beam": 16}),
    Case("/v1/transcribe", "100 sounds of 60 s", LISTENER, lambda: {"sounds": [silence(60)] * 100}),
    Case("/v1/transcribe", "600 s of sound", LISTENER, lambda: {"sounds": [silence(600)]}),
    Case("/v1/speak", "1,000 texts of 5 letters", SPEAKER, lambda: {"text": ["abcab"] * 1000}),
    Case("/v1/speak", "60 s, 1,000 rounds", SPEAKER, lambda: {"text": "a" * 200, "seconds": 60, "rounds": 1000}),
    Case("/v1/draw", "64 pictures of 64 steps", DRAWER, lambda: {"count": 64}),
    Case("/v1/draw", "64 of strokes", SKETCHER, lambda: {"count": 64}),
    Case("/v1/embed", "1 text of 50,000 letters", READER, lambda: {"text": ["a b " * 12_500], "layer": 0}),
    Case("/v1/embed", "1,000 texts of 50 letters", READER, lambda: {"text": ["a b c d e " * 5] * 1000, "layer": 0}),
    Case("/v1/neighbours", "1,000 words of 20,000", LEXICON, lambda: {"words": some_words(1000), "count": 1000}),
    Case("/v1/analogy", "3 words of 20,000", LEXICON, lambda: dict(zip("abc", some_words(3), strict=True))),
    Case("/v1/map", "1,000 words, t-SNE", LEXICON, lambda: {"count": 1000, "method": "t-sne"}),
)


# Measuring


def ask(port: int, path: str, body: bytes) -> tuple[int, float]:
    """The status of an answer, and the seconds until it came."""
    began = time.perf_counter()
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.perf_counter() - began
    finally:
        connection.close()


def resident(process: int) -> float:
    """The megabytes of a process."""
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * 4096 / 2**20


def watch(port: int, process: int, case: Case, until: Callable[[], bool]) -> Seen:
    """What short requests see, one every so often, and the memory of the server, until something has come about."""
    seen, over, body = Seen(), threading.Event(), json.dumps(case.subject.short).encode()

    def ask_again() -> None:
        while not over.is_set():
            status, seconds = ask(port, case.subject.path, body)
            seen.waits.append(seconds)
            seen.failed += status != 200
            time.sleep(EVERY)

    client = threading.Thread(target=ask_again)
    client.start()
    while not until():
        seen.memory.append(resident(process))
        time.sleep(EVERY / 4)
    over.set()
    client.join()
    return seen


def measure(case: Case, model: Path) -> list[str]:
    """The row of a case."""
    large, short = json.dumps(case.large()).encode(), json.dumps(case.subject.short).encode()
    with served(model) as (port, process):
        if case.first is not None:
            ask(port, case.path, json.dumps(case.first).encode())
        status, _ = ask(port, case.subject.path, short)
        assert status == 200, f"{case.path}: the short request was answered {status}"
        end = time.perf_counter() + IDLE
        alone = watch(port, process, case, lambda: time.perf_counter() > end)
        before, found = resident(process), list[tuple[int, float]]()
        asking = threading.Thread(target=lambda: found.append(ask(port, case.path, large)))
        asking.start()
        beside = watch(port, process, case, lambda: not asking.is_alive())
        asking.join()
        time.sleep(AFTER)
        after, ((status, took),) = resident(process), found
    told = [f"{max(alone.waits):.2f}", f"{max(beside.waits):.2f}", f"{beside.failed} of {len(beside.waits)}"]
    memory = [f"{value:,.0f}" for value in (before, max(beside.memory), after)]
    load = f"{os.getloadavg()[0]:.0f}"
    return [case.path, case.request, f"{len(large):,}", *told, f"{took:.1f}", str(status), *memory, load]


def line(cells: tuple[str, ...] | list[str]) -> str:
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", help="addresses to measure; by default all")
    given = parser.parse_args()
    print(line(COLUMNS))
    with tempfile.TemporaryDirectory() as place:
        models = dict[Callable[[Path], Path], Path]()
        for number, case in enumerate(CASES):
            if given.only and case.path not in given.only:
                continue
            make = case.subject.make
            if make not in models:
                folder = Path(place) / str(number)
                folder.mkdir()
                models[make] = make(folder)
            print(line(measure(case, models[make])), flush=True)


if __name__ == "__main__":
    main()
