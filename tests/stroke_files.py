"""Small files of drawings: a ring and a line through it."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np


def rings(count: int) -> list[list[list[list[int]]]]:
    """Return drawings of two strokes, in whole units."""
    angles = np.linspace(0, 2 * np.pi, 6)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    return [[np.rint((8 + n % 7) * ring).astype(int).tolist(), [[0, 0], [0, 5 + n % 3]]] for n in range(count)]


def write_drawings(path: Path, count: int) -> Path:
    path.write_text("".join(f"{json.dumps(strokes)}\n" for strokes in rings(count)), encoding="utf-8")
    return path


def write_ring(path: Path) -> Path:
    """Write one drawing of one stroke."""
    path.write_text(json.dumps(rings(1)[0][:1]), encoding="utf-8")
    return path


def write_labelled_drawings(path: Path, count: int) -> Path:
    """Write rings and crosses of two strokes in turn."""
    crosses = [[[[0, 0], [9 + n % 5, 9]], [[9, 0], [0, 8 + n % 3]]] for n in range(count)]
    lines = []
    for ring, cross in zip(rings(count // 2), crosses, strict=False):
        lines += [{"label": "ring", "strokes": ring[:1]}, {"label": "cross", "strokes": cross}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def write_archive(path: Path, **members: Any) -> Path:
    """Write an .npz like sketch-rnn's: each member is a pickle of a list of arrays or of any other object."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            buffer, objects = io.BytesIO(), np.empty(len(content), dtype=object)
            objects[:] = content
            np.save(buffer, objects, allow_pickle=True)
            archive.writestr(f"{name}.npy", buffer.getvalue())
    return path
