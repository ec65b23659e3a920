"""A user's picture as a model reads it: extracted from its file, read from a .npy file, or found by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from regard.base.faults import Fault
from regard.base.progress import Remark, ignore_remark
from regard.data.captions.components import Components, open_components
from regard.data.captions.features import COMPONENTS_FILE, PIXELS, FeatureFormat, read_feature_file
from regard.data.captions.files import read_features, read_names
from regard.data.captions.generated import generate_named
from regard.data.captions.options import CaptionData
from regard.data.captions.pixels import PictureStore, pixels_of
from regard.data.corpora.text import file_of
from regard.data.pictures.files import read_colours, shrink, squash
from regard.data.pictures.videos import read_frames
from regard.models.efficientnet import SIDE, efficientnet_features

Given = str | Path | bytes | np.ndarray
EFFICIENTNET = "efficientnet-lite2"
SHOWN = 256  # longer side in pixels of a picture shown under its attention
SHOWN_OF_FRAME = 96  # the same for a frame, of which there are several


class ReadPicture(NamedTuple):
    """The features (place, width) of a picture in float32, and the picture itself, (height, width, 3), if known.

    Pixels are from 0 to 1. A video is (frame, height, width, 3) and always known.
    """

    features: np.ndarray
    picture: np.ndarray | None = None


@dataclass(frozen=True)
class FeatureReader:
    """Reads a picture as people have it into the features that a model reads."""

    format: FeatureFormat
    components: bytes | None  # that reduce the features, if they are reduced
    data: CaptionData  # for the location of the recipe's own pictures

    @classmethod
    def of(cls, features: FeatureFormat, files: Mapping[str, bytes], data: CaptionData) -> "FeatureReader":
        """Return the reader for a model with these files in its folder."""
        return cls(features, files.get(COMPONENTS_FILE), data)

    def read(self, picture: Given, remark: Remark = ignore_remark) -> ReadPicture:
        """Read a picture from its file or the file's content, from an array or .npy file of features, or by name.

        Text that names no file may be the name of a picture in the recipe's data.
        """
        if isinstance(picture, np.ndarray):
            return self._shown(self.format.take(picture, "The array"))
        if isinstance(picture, bytes):
            return self.extract(picture, "The picture", remark)
        path = Path(picture)
        if path.suffix == ".npy":
            return self._shown(read_feature_file(path, self.format))
        if path.exists():
            return self.extract(path, str(path), remark)
        return self._find(str(picture))

    def extract(self, picture: Path | bytes, name: str, remark: Remark = ignore_remark) -> ReadPicture:
        """Read a picture from its file, or that file's content, and extract the features that this model reads."""
        if self.format.extractor not in (PIXELS, EFFICIENTNET):
            raise Fault(
                f"{name} cannot be read: regard cannot compute the {self.format.in_words} that this model reads. "
                "Give a .npy file with them, or the name of a picture in its data."
            )
        if self.format.frames is not None:
            return self._extract_frames(picture, name, self.format.frames)
        colours = read_colours(picture, name, remark)
        if self.format.extractor == PIXELS:
            features = pixels_of(colours, self.format.rows)
        else:
            grid = efficientnet_features(torch.from_numpy(squash(colours, SIDE)[None]))[0].numpy()
            features = grid if self._components is None else self._components.reduce(grid)
        return ReadPicture(self.format.take(features, name), shrink(colours, SHOWN) / 255)

    def _extract_frames(self, video: Path | bytes, name: str, count: int) -> ReadPicture:
        pixels, shown = [], []
        for colours in read_frames(video, name, count):  # one at a time, because they may be large
            pixels.append(pixels_of(colours, self.format.rows))
            shown.append(shrink(colours, SHOWN_OF_FRAME))
        return ReadPicture(self.format.take(np.concatenate(pixels), name), np.stack(shown) / 255)

    def _shown(self, features: np.ndarray) -> ReadPicture:
        """Return ready-made features; pixels of a video also serve to show it."""
        is_video = self.format.frames is not None
        return ReadPicture(features, features.reshape(*self.format.shape, -1) if is_video else None)

    def picture_of(self, name: str) -> np.ndarray | None:
        """Return a picture of the recipe's own data, (height, width, 3) from 0 to 1, or None if only its name is known.

        For a video, return the middle frame.
        """
        content = None if self._store is None else self._store.find(name)
        if content is None:
            return None
        is_still = self.format.frames is None
        colours = read_colours(content, name) if is_still else list(read_frames(content, name, 3))[1]
        return shrink(colours, SHOWN) / 255

    def _find(self, name: str) -> ReadPicture:
        """Find a picture in the recipe's own data."""
        if self.data.features == "own":
            content = None if self._store is None else self._store.find(name)
            if content is not None:
                return self.extract(content, name)
            if self.data.shapes is not None and (pixels := generate_named(self.data, name)) is not None:
                return ReadPicture(self.format.take(pixels, name), pixels / 255)
        elif file_of(self.data.features.names).exists() and name in self._rows:
            return ReadPicture(self.format.take(self._features[self._rows[name]], name), self.picture_of(name))
        raise Fault(f"There is no file {name}, and no picture of that name in the data of this model.")

    @cached_property
    def _store(self) -> PictureStore | None:
        """The pictures themselves, if they are on this machine."""
        name = self.data.pictures
        try:
            return None if name is None or not file_of(name).exists() else PictureStore(name)
        except Fault:  # a data set without its pictures
            return None

    @cached_property
    def _components(self) -> Components | None:
        return None if self.components is None else open_components(self.components, COMPONENTS_FILE)

    @cached_property
    def _rows(self) -> dict[str, int]:
        assert self.data.features != "own"
        return {name: row for row, name in enumerate(read_names(self.data.features.names))}

    @cached_property
    def _features(self) -> np.ndarray:
        assert self.data.features != "own"
        return read_features(self.data.features, list(self._rows))
