"""Pixels of pictures and videos read from files, used when no features were computed beforehand."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.captions.features import PIXELS, FeatureFormat
from regard.data.catalogue.unpack import Unusable, read_place, tar_places
from regard.data.corpora.text import file_of
from regard.data.pictures.files import read_colours, squash
from regard.data.pictures.videos import read_frames

MOST_BYTES = 2**26  # in a picture's file inside an archive


def pixel_format(side: int, frames: int | None) -> FeatureFormat:
    """Return the format of pictures as side × side pixels, each red, green and blue from 0 to 1, or of such videos."""
    return FeatureFormat(rows=side, columns=side, width=3, step=1 / 255, extractor=PIXELS, frames=frames)


def pixels_of(colours: np.ndarray, side: int) -> np.ndarray:
    """Return a picture (height, width, 3) as pixels (place, 3), row by row."""
    return squash(colours, side).reshape(-1, 3)


@dataclass(frozen=True)
class PictureStore:
    """A folder or tar archive of pictures by name; `name` is a path, or `SET:path`."""

    name: str

    def find(self, picture: str) -> bytes | None:
        """Return the content of a picture's file, or None if there is no such picture."""
        if self._path.is_dir():
            file = self._path / picture
            return file.read_bytes() if file.is_file() and _is_inside(self._path, file) else None
        start, size = self._places.get(picture, (0, MOST_BYTES + 1))
        if size > MOST_BYTES:
            return None
        with self._refusing_damage():
            return read_place(self._path, start, size)

    @property
    def _path(self) -> Path:
        return file_of(self.name)

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """Positions of the archive's files, by file name without folders."""
        with self._refusing_damage():
            return {name.rpartition("/")[2]: place for name, place in tar_places(self._path).items()}

    @contextmanager
    def _refusing_damage(self) -> Iterator[None]:
        try:
            yield
        except Unusable:
            raise Fault(f"{self.name} is neither a folder nor a tar archive of pictures, or it is damaged.") from None


def _is_inside(folder: Path, file: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def read_pixels(store: str, names: Sequence[str], side: int, frames: int | None, progress: Progress) -> np.ndarray:
    """Read the pixels (picture, place, 3) of the named pictures, or of videos with `frames` frames."""
    pictures, pixels = PictureStore(store), np.empty((len(names), (frames or 1) * side * side, 3), np.uint8)
    what = "picture" if frames is None else "video"
    for row, name in enumerate(names):
        progress(f"reading {what}s", row, len(names))
        content = pictures.find(name)
        if content is None:
            raise Fault(f"{store} has no {what} {name}.")
        images = [read_colours(content, name)] if frames is None else read_frames(content, name, frames)
        pixels[row] = np.concatenate([pixels_of(colours, side) for colours in images])
    progress(f"reading {what}s", len(names), len(names))
    return pixels
