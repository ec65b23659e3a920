"""Saving views from Python."""

import warnings
from collections.abc import Callable
from pathlib import Path

from regard.base.faults import Fault


def save_by(write: Callable[[Path], set[str]], path: Path, overwrite: bool) -> Path:
    """Write a file and warn about characters that no font here can draw; refuse to overwrite one without permission."""
    if path.exists() and not overwrite:
        raise Fault(f"{path} exists already; give overwrite=True to replace it.")
    if missing := write(path):
        warnings.warn(f"No font here can draw {' '.join(sorted(missing))}.", stacklevel=3)
    return path
