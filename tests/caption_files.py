"""Generated captioned pictures: a two-by-two grid in which one place holds the feature of a shape."""

from pathlib import Path
from typing import Any

import numpy as np

SHAPES = ("circle", "square", "cross")
PLACES = ("upper left", "upper right", "lower left", "lower right")
SIZES = {"train": 10, "valid": 3, "test": 2}


def captioned(number: int) -> tuple[np.ndarray, list[str]]:
    """Return the features (place, width) of a picture and two captions of it."""
    shape, place = number % len(SHAPES), number % len(PLACES)
    features = np.zeros((len(PLACES), 5), np.int8)
    features[place, shape] = 8
    features[:, 4] = number % 3
    name, where = SHAPES[shape], PLACES[place]
    return features, [f"A {name} in the {where} corner .", f"There is a {name} ."]


def write_captions(folder: Path, step: float = 0.25) -> dict[str, Any]:
    """Write files of captions, names, splits and features. Return the recipe entries for them."""
    every, captions = [], []
    names = {split: [f"{split}-{number}.jpg" for number in range(count)] for split, count in SIZES.items()}
    for number, name in enumerate(name for split_names in names.values() for name in split_names):
        features, texts = captioned(number)
        every.append(features)
        captions += [f"{name}#{place}\t{text}" for place, text in enumerate(texts)]
    files = {"captions": captions, "names": [name for split_names in names.values() for name in split_names], **names}
    for name, lines in files.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    np.save(folder / "features.npy", np.stack(every).transpose(2, 0, 1))
    np.savez(folder / "components.npz", step=np.float32(step))
    return {
        "captions": str(folder / "captions.txt"),
        "at_least": 1,
        "features": {
            "file": str(folder / "features.npy"),
            "names": str(folder / "names.txt"),
            "axes": "width picture place",
            "grid": [2, 2],
            "components": str(folder / "components.npz"),
        },
        **{split: str(folder / f"{split}.txt") for split in SIZES},
    }
