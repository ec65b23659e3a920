"""Small idx files and listings of pictures for tests."""

import gzip
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image


def write_idx(path: Path, array: np.ndarray) -> str:
    """Write bytes in the idx format, compressed if the name says so."""
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    content = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


def write_set(folder: Path, pictures: np.ndarray, labels: Sequence[int], name: str = "train") -> dict[str, str]:
    """Write the idx files of labelled pictures. Return their names as in `[data]` of a recipe."""
    return {
        "pictures": write_idx(folder / f"{name}-pictures.gz", pictures),
        "labels": write_idx(folder / f"{name}-labels", np.array(labels)),
    }


def write_listing(folder: Path, pictures: np.ndarray, labels: Sequence[str]) -> str:
    """Write picture files and the lines that name them."""
    lines = []
    for number, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        Image.fromarray(picture.astype(np.uint8)).save(folder / f"{number}.png")
        lines.append(f"{number}.png\t{label}\n")
    (folder / "listing.tsv").write_text("".join(lines), encoding="utf-8")
    return str(folder / "listing.tsv")


def flags(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures whose right end is black (0) or white (1); a first glimpse does not see it.

    The left end is random. Only a model that learns to look to the right can tell the pictures apart.
    """
    left, right = np.random.default_rng(7).integers(0, 2, (2, count))
    pictures = np.zeros((count, 8, 16), np.uint8)
    pictures[:, :, :4] = 255 * left[:, None, None]
    pictures[:, :, 12:] = 255 * right[:, None, None]
    return pictures, right
