"""How much of the engine's speed is left when 64 clients ask at the same time over HTTP, and how long each waits.

The model is that of `translate_cpu.py`, a base Transformer of random weights with an export for CTranslate2, or any
model folder with an export. In every round the engine first translates in this process, as fast as it can, and then the
server (a process of its own, on loopback) answers clients of which each asks again as soon as it is answered. Both do
the same sentences, and every answer is compared with what the engine gave.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from translate_cpu import VOCABULARY, random_model

from regard.decoding.options import DecodingOptions, change_options
from regard.engines.ctranslate2.engine import CTranslate2Engine, load_engine

CLIENTS, ROUNDS, SECONDS, TEXTS = 64, 5, 10.0, 256


@dataclass
class Seen:
    """What the clients saw in one round."""

    waits: list[float] = field(default_factory=list)
    wrong: int = 0
    lost: int = 0
    rate: float = 0.0  # answers a second


def texts_of(count: int) -> list[str]:
    """Sentences of 10 to 40 words."""
    draw = random.Random(1)
    return [" ".join(f"w{draw.randrange(VOCABULARY - 4)}" for _ in range(draw.randint(10, 40))) for _ in range(count)]


@contextmanager
def served(model: Path, *more: str) -> Iterator[tuple[int, int]]:
    """The port and the process of a server."""
    command = [sys.executable, "-m", "regard", "serve", str(model), "--port", "0", "--quiet", *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = next(line for line in process.stderr if "serving on" in line)
    try:
        yield int(line.rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.communicate(timeout=60)


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes) -> tuple[int, bytes]:
    """One request on a connection that stays open."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
    status = int((await reader.readline()).split()[1])
    length = 0
    while (line := await reader.readline()).strip():
        name, _, value = line.decode().partition(":")
        if name.lower() == "content-length":
            length = int(value)
    return status, await reader.readexactly(length)


class Load:
    """Clients that ask again and again, each as soon as it is answered."""

    def __init__(self, port: int, expected: dict[str, str], beam: int | None) -> None:
        self.port, self.expected, self.beam = port, expected, beam

    def round(self, clients: int, seconds: float) -> Seen:
        return asyncio.run(self._round(clients, seconds))

    async def _round(self, clients: int, seconds: float) -> Seen:
        seen, began = Seen(), time.perf_counter()
        counted: list[float] = []
        coming = itertools.cycle(self.expected)
        await asyncio.gather(*(self._client(seen, counted, coming, began + seconds) for _ in range(clients)))
        # They begin together, and the last answers of all come together.
        seen.rate = len(counted) / (max(counted) - began)
        return seen

    async def _client(self, seen: Seen, counted: list[float], coming: Iterator[str], until: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while time.perf_counter() < until:
            text, began = next(coming), time.perf_counter()
            path, body = self._request(text)
            status, answer = await ask(reader, writer, path, body)
            counted.append(time.perf_counter())
            seen.waits.append(counted[-1] - began)
            seen.lost += status != 200
            seen.wrong += status == 200 and self._text(answer) != self.expected[text]
        writer.close()

    def _request(self, text: str) -> tuple[str, bytes]:
        if self.beam is None:
            return "/translate", json.dumps({"q": text, "source": "src", "target": "tgt"}).encode()
        return "/v1/translate", json.dumps({"text": text, "beam": self.beam, "explain": False}).encode()

    def _text(self, answer: bytes) -> str:
        found = json.loads(answer)
        return str(found["translatedText"] if self.beam is None else found["translations"][0]["text"])


def counts(port: int) -> dict[str, float]:
    """What the server counts of itself, labels left out."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {
        line.partition("{")[0].split()[0]: float(line.rpartition(" ")[2]) for line in lines if "_bucket" not in line
    }


def resident(process: int) -> float:
    """Memory of a process in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def core_seconds(process: int) -> float:
    """Time that a process has had on the cores."""
    ticks = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Offline:
    """What the engine gives for each text, and sentences a second by the clock and of one core."""

    expected: dict[str, str]
    rate: float
    core_rate: float


def offline(engine: CTranslate2Engine, texts: list[str], beam: int | None) -> Offline:
    options: DecodingOptions = change_options(engine.decoding, {"beam": beam}, None)
    began, began_core = time.perf_counter(), time.process_time()
    found = engine.translate(texts, options, scored=False)
    written = [engine.target.decode(each[0].tokens) for each in found]
    took, took_core = time.perf_counter() - began, time.process_time() - began_core
    return Offline(dict(zip(texts, written, strict=True)), len(texts) / took, len(texts) / took_core)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


COLUMNS = (
    "offline/s", "served/s", "ratio", "of a core", "p50 s", "p95 s", "p99 s", "batch", "busy", "answers", "wrong",
    "lost", "MiB",
)  # fmt: skip


def report(model: Path, texts: list[str], beam: int | None, clients: int, seconds: float) -> None:
    """A line for each round, and the medians of the ratios."""
    name = "the recipe's search" if beam is None else f"beam {beam}"
    print(f"{clients} clients, {name}, {len(texts)} sentences, {ROUNDS} rounds of {seconds:g} s")
    print(" ".join(f"{column:>9}" for column in COLUMNS))
    engine, ratios = load_engine(model), []
    offline(engine, texts[:clients], beam)  # warms up
    with served(model) as (port, process):
        Load(port, dict.fromkeys(texts, ""), beam).round(clients, 0.1)
        for _ in range(ROUNDS):
            alone = offline(engine, texts, beam)
            values, ratio = one_round(port, process, alone, beam, clients, seconds)
            ratios.append(ratio)
            print(" ".join(f"{value:>9}" for value in values), flush=True)
    by_clock, by_core = (statistics.median(each) for each in zip(*ratios, strict=True))
    print(f"median ratio by the clock {by_clock:.2f}, of a core's time {by_core:.2f}")


def one_round(
    port: int, process: int, alone: Offline, beam: int | None, clients: int, seconds: float
) -> tuple[list[str], tuple[float, float]]:
    """A line of the table, and its two ratios."""
    before, core, began = counts(port), core_seconds(process), time.perf_counter()
    seen = Load(port, alone.expected, beam).round(clients, seconds)
    took, core, after = time.perf_counter() - began, core_seconds(process) - core, counts(port)
    more = {name: value - before.get(name, 0.0) for name, value in after.items()}
    ratios = seen.rate / alone.rate, len(seen.waits) / core / alone.core_rate
    waits = [f"{percentile(seen.waits, share):.2f}" for share in (0.5, 0.95, 0.99)]
    batch = more["regard_batch_rows_sum"] / more["regard_batch_rows_count"]
    busy = more["regard_busy_seconds_total"] / took
    rates = [f"{alone.rate:.1f}", f"{seen.rate:.1f}", *(f"{ratio:.2f}" for ratio in ratios)]
    others = [f"{batch:.1f}", f"{busy:.0%}", str(len(seen.waits)), str(seen.wrong), str(seen.lost)]
    return [*rates, *waits, *others, f"{resident(process):.0f}"], ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, help="a model folder with an export; needs --text")
    parser.add_argument("--text", type=Path, help="lines to translate")
    parser.add_argument("--beam", type=int, help="width of the beam; by default as the recipe says")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a round")
    parser.add_argument("--texts", type=int, default=TEXTS, help="sentences")
    given = parser.parse_args()
    if given.model:
        texts = list(dict.fromkeys(given.text.read_text(encoding="utf-8").splitlines()))[: given.texts]
        report(given.model, texts, given.beam, given.clients, given.seconds)
        return
    with tempfile.TemporaryDirectory() as place:
        model = random_model(Path(place) / "model")
        report(model, texts_of(given.texts), given.beam, given.clients, given.seconds)


if __name__ == "__main__":
    main()
