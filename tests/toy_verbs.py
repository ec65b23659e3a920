"""Every verb of every toy: two inputs as a person would give them, how to ask, and how to compare what is answered."""

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sound_files import write_tones
from stroke_files import write_drawings, write_labelled_drawings
from torch import Tensor

from regard.model import Model
from regard.runs.about import read_about

# Families whose measures or answers draw random numbers (places to look at, latent codes), which differ by device.
DRAWN = ("ram", "draw", "sketchformer", "sketch-rnn", "online", "online-sounds")

OF_TASKS: dict[str, list[str]] = {
    "nodes": ["0", "3"],
    "painting": ["a black flag", "white"],
    "language": ["I see the", "This woman"],
    "contexts": ["I see the house.", "This woman watched."],
    "words": ["I see the house.", "This woman watched."],
    "speaking": ["a b", "c"],
}
OF_TOYS: dict[str, list[str]] = {
    "recurrent": ["1 2", "3 3"],
    "decoder": ["0.3 0.5* 0.2*", "0.1* 0.4 0.9*"],
    "ntm": ["01 11", "10 00"],
    "dnc": ["01 11 x2", "10 00 x1"],
    "sam": ["01 | 11 ? 01", "10 | 11 ? 10"],
    "lstm": ["0.5:01 -0.2:11", "0.1:10 0.9:00"],
    "bert": ["o [MASK] .", "a [MASK] ."],
    "captioner": ["valid-0.jpg", "valid-1.jpg"],
    "hard captioner": ["valid-0.jpg", "valid-1.jpg"],
    "caption-transformer": ["valid-0.jpg", "valid-1.jpg"],
    "video captioner": ["test-0", "test-1"],
}
SIDES = {"draw": (17, 17), "handwriting": (8, 32)}  # (height, width) of pictures; all others are scenes
SCENE = (18, 18)


def inputs_of(toy: str, task: str, folder: Path) -> list[str]:
    """Return two inputs for the model of a toy that was trained in `folder` / "run"; files are written there."""
    if toy in OF_TOYS:
        return OF_TOYS[toy]
    if task in OF_TASKS:
        return OF_TASKS[task]
    if task in _FILES:
        return _FILES[task](folder)
    if examples := read_about(folder / "run").examples:
        return (examples * 2)[:2]
    return _pictures(folder, SIDES.get(toy, SCENE))


def _pictures(folder: Path, side: tuple[int, int]) -> list[str]:
    shades = np.random.default_rng(5).integers(0, 256, (2, *side)).astype(np.uint8)
    paths = [folder / f"input-{number}.png" for number in range(2)]
    for path, shade in zip(paths, shades, strict=True):
        Image.fromarray(shade).save(path)
    return [str(path) for path in paths]


def _sounds(folder: Path) -> list[str]:
    tones = write_tones(folder / "inputs")
    return [str(tones / "a_ann_1.wav"), str(tones / "b_bob_0.wav")]


def _drawings(folder: Path) -> list[str]:
    return [str(write_drawings(folder / f"input-{count}.jsonl", count)) for count in (1, 2)]


def _labelled(folder: Path) -> list[str]:
    return [str(write_labelled_drawings(folder / f"input-{count}.jsonl", count)) for count in (2, 4)]


_FILES: dict[str, Callable[[Path], list[str]]] = {
    "transcription": _sounds,
    "strokes": _drawings,
    "recognition": _labelled,
}


def plain(tree: Any) -> Any:
    """Return a result as plain numbers, texts, lists and dictionaries."""
    if isinstance(tree, Tensor):
        return tree.detach().float().cpu().tolist()
    if isinstance(tree, np.ndarray):
        return tree.tolist()
    if is_dataclass(tree) and not isinstance(tree, type):
        return {each.name: plain(getattr(tree, each.name)) for each in fields(tree)}
    if isinstance(tree, dict):
        return {name: plain(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(each) for each in tree]
    return tree


def assert_same(found: Any, expected: Any, where: str = "result") -> None:
    """Compare results of two ways to compute: texts to the letter, numbers within what float32 leaves open."""
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-4, nan_ok=True), where
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for name in expected:
            assert_same(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    else:
        assert found == expected, where


def _outputs(found: Iterable[Any]) -> list[Any]:
    return [(each.text, each.score) for each in found]


def _answers(model: Model, inputs: list[str]) -> Any:
    found = model.answer(inputs)
    return [(each.answer, each.probability) if hasattr(each, "answer") else plain(each.answers) for each in found]


ASKED: dict[str, Callable[[Model, list[str]], Any]] = {
    "translate": lambda model, inputs: _outputs(model.translate(inputs, beam=2)),
    "generate": lambda model, inputs: [_outputs(each) for each in model.generate(inputs, tokens=4, beam=2)],
    "caption": lambda model, inputs: _outputs(model.caption(inputs, beam=2)),
    "transcribe": lambda model, inputs: _outputs(model.transcribe(inputs)),
    "answer": _answers,
    "speak": lambda model, inputs: [len(each.samples) for each in model.speak(inputs, seconds=0.2, rounds=2)],
    "draw": lambda model, inputs: len(model.draw(2, prompt=inputs[0] if model.recipe.task == "painting" else None)),
    "embed": lambda model, inputs: [plain(each.layers) for each in model.embed(inputs)],
    "neighbours": lambda model, inputs: plain(model.neighbours(["the"], 3)),
    "analogy": lambda model, inputs: plain(model.analogy("the", "house", "woman", 3)),
    "look": lambda model, inputs: plain(model.look(inputs[0]).numbers()),
}
