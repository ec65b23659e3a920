"""Saving of views from Python."""

import warnings
from collections.abc import Callable
from pathlib import Path

from regard.base.faults import Fault


def save_by(write: Callable[[Path], set[str]], path: Path, overwrite: bool) -> Path:
    """Write a file, refuse one that exists, and warn of characters that no font here can draw."""
    if path.exists() and not overwrite:
        raise Fault(f"{path} exists already; give overwrite=True to replace it.")
    if missing := write(path):
        warnings.warn(f"No font here can draw {' '.join(sorted(missing))}.", stacklevel=3)
    return path
