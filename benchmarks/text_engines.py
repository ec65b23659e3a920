"""`--engine onnx` against torch for language models, classifiers, taggers and BERTs: one text at a time on one core.

The model is copied and exported in float32 and in int8. Printed are milliseconds of CPU a text, the times faster than
torch, and how many outputs differ. Language models continue prompts greedily by 100 tokens.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

import regard
from regard.base.faults import Fault
from regard.data.lines import read_lines
from regard.engines.exported import origins
from regard.engines.onnx.export import Quantisation, export_onnx
from regard.training.checkpoint import read_folder

TOKENS = 100


def ask(model: regard.Model, engine: str) -> Callable[[str], Any]:
    """Return what answers or continues one text, as a comparable value."""
    if "generate" in model.verbs:
        return lambda text: model.generate([text], tokens=TOKENS, beam=1, engine=engine)[0][0].text  # type: ignore[arg-type]
    return lambda text: model.answer([text], engine=engine)[0].answer  # type: ignore[arg-type]


def measure(work: Callable[[str], Any], texts: list[str]) -> tuple[list[Any], float]:
    """Return the outputs, and the mean milliseconds of CPU a text; the first text does not count."""
    work(texts[0])
    began = time.process_time()
    outputs = [work(text) for text in texts]
    return outputs, (time.process_time() - began) / len(texts) * 1000


def readable(model: regard.Model, texts: list[str]) -> list[str]:
    """Return the texts that the model can read."""
    kept, work = [], ask(model, "torch")
    for text in texts:
        try:
            work(text)
        except Fault:
            continue
        kept.append(text)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="a model folder")
    parser.add_argument("texts", type=Path, help="a file with a text on each line")
    parser.add_argument("--count", type=int, default=100, help="texts to read (100)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "model"
        shutil.copytree(options.model, folder, ignore=shutil.ignore_patterns("training", "onnx"))
        lines = [line for line in read_lines(options.texts) if line.strip()][: options.count]
        model = regard.load(folder, "cpu")
        texts = readable(model, lines)
        expected, by_torch = measure(ask(model, "torch"), texts)
        print(f"{len(texts)} texts; torch: {by_torch:.2f} ms of CPU a text")
        kinds: tuple[Quantisation, ...] = ("float32", "int8")
        for kind in kinds:
            export_onnx(model, folder / "onnx", kind, origins(read_folder(folder)))
            fresh = regard.load(folder, "cpu")
            found, milliseconds = measure(ask(fresh, "onnx"), texts)
            differ = sum(a != b for a, b in zip(found, expected, strict=True))
            size = sum(file.stat().st_size for file in (folder / "onnx").iterdir()) / 1e6
            ratio = by_torch / milliseconds
            print(f"onnx, {kind}: {milliseconds:.2f} ms, {ratio:.2f} times, {differ} outputs differ, {size:.1f} MB")


if __name__ == "__main__":
    main()
