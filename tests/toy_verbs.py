"""Two inputs for every toy, as a user would give them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from sound_files import write_tones
from stroke_files import write_drawings, write_labelled_drawings

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
    """Return two inputs for the model of a toy trained in `folder` / "run", writing files there as needed."""
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
