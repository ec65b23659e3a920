"""How long a short request waits beside one long one: 2,000, 10,000 and 50,000 letters "a", by torch and CTranslate2.

The model is a Transformer of random weights that reads bytes, so that every letter is a token, and that does not end
before it must: the worst that a text can do to a server. Or it is any model folder with an export for CTranslate2. Each
round begins with the long request; short ones follow, each as soon as the one before is answered, a few at most. Then
the long one hangs up, and one more short request shows how soon the model is free again.
"""

import argparse
import json
import socket
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from serve_load import served

from regard.base.recipe import write
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.engines.ctranslate2.export import export_ctranslate2
from regard.engines.exported import CTRANSLATE2
from regard.families import check_recipe
from regard.tasks.translation.building import build_translation
from regard.training import checkpoint
from regard.training.snapshot import named_weights

LETTERS = (2_000, 10_000, 50_000)
SHORT = "Ana reads."
HEAD_START = 0.3  # seconds that the long request has before the first short one
COLUMNS = ("engine", "letters", "alone s", "median s", "longest s", "failed", "then s")


def endless_model(folder: Path, preset: str) -> Path:
    """A model folder with an export; nothing teaches its random weights to end."""
    data = {"train": "demo:train", "tokeniser": {"kind": "bytes"}, "cleaning": {"longest": 255}}
    recipe = check_recipe({"data": data, "model": {"preset": preset, "norm": "before", "longest": 512}})
    tokeniser = ByteTokeniser()
    task = build_translation(recipe, tokeniser, tokeniser)
    files = {checkpoint.RECIPE: write(recipe, "random").encode(), **tokeniser.files("tokeniser")}
    files[checkpoint.WEIGHTS] = checkpoint.weights_to_bytes(named_weights(task))
    checkpoint.update_folder(folder, files)
    export_ctranslate2(folder, folder / CTRANSLATE2, "int8")
    return folder


def sent(port: int, text: str) -> socket.socket:
    """The connection on which a request has been sent."""
    body = json.dumps({"text": text, "explain": False}).encode()
    lines = ["POST /v1/translate HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Connection: close"]
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
    return connection


def wait_of(port: int) -> float | None:
    """Seconds until a short request is answered; nothing if it fails."""
    began = time.perf_counter()
    with sent(port, SHORT) as connection:
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    return time.perf_counter() - began if answer.startswith(b"HTTP/1.1 200") else None


def is_answered(connection: socket.socket) -> bool:
    """Whether anything has come, even its end."""
    connection.settimeout(0)
    with suppress(BlockingIOError):
        connection.recv(1, socket.MSG_PEEK)
        return True
    return False


def beside(port: int, letters: int, most: int) -> tuple[list[float | None], float | None]:
    """The waits of short requests beside a long one, and of one more when that has hung up."""
    with sent(port, "a" * letters) as long_one:
        time.sleep(HEAD_START)
        waits = [wait_of(port)]
        while len(waits) < most and not is_answered(long_one):
            waits.append(wait_of(port))
    return waits, wait_of(port)


def report(model: Path, engine: str, most: int, letters: tuple[int, ...]) -> None:
    with served(model, "--engine", engine) as (port, _):
        alone = statistics.median(wait_of(port) or float("nan") for _ in range(5))
        for count in letters:
            waits, then = beside(port, count, most)
            answered = [wait for wait in waits if wait is not None]
            told = [statistics.median(answered), max(answered)] if answered else [float("nan")] * 2
            numbers = [f"{value:.2f}" for value in (alone, *told)]
            failed = f"{len(waits) - len(answered)} of {len(waits)}"
            after = "failed" if then is None else f"{then:.2f}"
            row = [engine, f"{count:,}", *numbers, failed, after]
            print(" ".join(f"{value:>12}" for value in row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, help="a model folder with an export; by default a random one is made")
    parser.add_argument("--preset", default="small", help="the size of the random one")
    parser.add_argument("--most", type=int, default=8, help="short requests beside each long one, at most")
    parser.add_argument("--letters", type=int, nargs="*", default=LETTERS)
    parser.add_argument("--engines", nargs="*", default=["torch", "ctranslate2"])
    given = parser.parse_args()
    print(" ".join(f"{column:>12}" for column in COLUMNS))
    with tempfile.TemporaryDirectory() as place:
        model = given.model or endless_model(Path(place) / "model", given.preset)
        for engine in given.engines:
            report(model, engine, given.most, tuple(given.letters))


if __name__ == "__main__":
    main()
