"""Sources and outputs in files: lines of a text, or a folder of pictures or sounds."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import read_bounded
from regard.base.names import natural_order
from regard.data.lines import read_lines
from regard.serving.judging.comparison import MEDIA, Shown

_LARGEST = 2**25  # bytes of a picture or a sound
SEED = 1  # of the choice of some items out of many


@dataclass(frozen=True)
class Given:
    """The lines of a file, or the files of a folder with their names without suffix."""

    path: Path
    parts: Sequence[str | Path]
    names: Sequence[str] | None = None

    @property
    def amount(self) -> str:
        return quantity(len(self.parts), "line" if self.names is None else "file")

    def show(self, places: Sequence[int]) -> list[Shown]:
        """Read the parts at some places."""
        return [_show(self.parts[place]) for place in places]


def read_given(path: Path) -> Given:
    """Read what is in a file or folder; refuse one with nothing to judge."""
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise Fault(f"There is no file or folder {path}.")
    if path.suffix.lower() in MEDIA:
        raise Fault(f"{path} is a single picture or sound; put those to judge into a folder and name the folder.")
    lines = list(read_lines(path))
    if not lines:
        raise Fault(f"{path} is empty; there is nothing to judge.")
    return Given(path, lines)


def _read_folder(path: Path) -> Given:
    files = sorted(
        (file for file in path.iterdir() if file.suffix.lower() in MEDIA), key=lambda f: natural_order(f.stem)
    )
    if not files:
        raise Fault(f"{path} is not a model folder, and has no files to judge ({', '.join(MEDIA)}).")
    names = [file.stem for file in files]
    if twice := next((one for one, other in pairwise(names) if one == other), None):
        raise Fault(f"{path} has two files called {twice}; keep one of them.")
    return Given(path, files, names)


def _show(part: str | Path) -> Shown:
    if isinstance(part, str):
        return Shown(part)
    return Shown(content=read_bounded(part, _LARGEST), media=MEDIA[part.suffix.lower()])


def check_same_items(parts: Sequence[Given]) -> None:
    """Refuse files of different lengths, and folders whose files have different names."""
    first = parts[0]
    for other in parts[1:]:
        if len(other.parts) != len(first.parts):
            raise Fault(f"{first.path} has {first.amount} but {other.path} has {other.amount}; each item needs both.")
    folders = [part for part in parts if part.names is not None]
    for other in folders[1:]:
        for one, two in zip(folders[0].names or [], other.names or [], strict=True):
            if one != two:
                raise Fault(
                    f"{folders[0].path} has a file {one} where {other.path} has {two}; they must be called alike."
                )


def names_of(parts: Sequence[Given]) -> list[str]:
    """Return names for the items: those of files in a folder, or else the numbers of lines."""
    named = next((part.names for part in parts if part.names is not None), None)
    return list(named) if named is not None else [str(number) for number in range(1, len(parts[0].parts) + 1)]


def choose_places(total: int, count: int | None) -> list[int]:
    """Return the places of the items to judge: all, or `count` chosen at random, always the same."""
    if count is None or count >= total:
        return list(range(total))
    return sorted(random.Random(SEED).sample(range(total), count))
