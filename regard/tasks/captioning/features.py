"""A picture that someone has, as a model reads it: made of its file, read from a .npy file, or found by its name."""

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
SHOWN = 256  # pixels of the longer side of a picture, as it is shown under what was looked at
SHOWN_OF_FRAME = 96  # the same of a frame, of which there are several


class ReadPicture(NamedTuple):
    """The features (place, width) of a picture in float32, and the picture itself, (height, width, 3), if it is known.

    Pixels of the picture are from 0 to 1. A video is (frame, height, width, 3), and known always.
    """

    features: np.ndarray
    picture: np.ndarray | None = None


@dataclass(frozen=True)
class FeatureReader:
    """From a picture, as people have it, to its features, as one model reads them."""

    format: FeatureFormat
    components: bytes | None  # by which features are reduced, where they are
    data: CaptionData  # where the recipe's own pictures lie

    @classmethod
    def of(cls, features: FeatureFormat, files: Mapping[str, bytes], data: CaptionData) -> "FeatureReader":
        """For a model whose folder has these files."""
        return cls(features, files.get(COMPONENTS_FILE), data)

    def read(self, given: Given, remark: Remark = ignore_remark) -> ReadPicture:
        """A picture by its file or that file's content, by an array or a .npy file of features, or by its name.

        What is no file may be the name of a picture of the recipe's data.
        """
        if isinstance(given, np.ndarray):
            return self._shown(self.format.take(given, "The array"))
        if isinstance(given, bytes):
            return self.extract(given, "The picture", remark)
        path = Path(given)
        if path.suffix == ".npy":
            return self._shown(read_feature_file(path, self.format))
        if path.exists():
            return self.extract(path, str(path), remark)
        return self._find(str(given))

    def extract(self, picture: Path | bytes, name: str, remark: Remark = ignore_remark) -> ReadPicture:
        """A picture from its file, or from the content of that, and what the extractor of this model makes of it."""
        if self.format.extractor not in (PIXELS, EFFICIENTNET):
            raise Fault(
                f"{name} cannot be read: regard cannot compute the {self.format.in_words} that this model reads. "
                "Give a .npy file with them, or the name of a picture of its data."
            )
        if self.format.frames is not None:
            return self._extract_frames(picture, name, self.format.frames)
        colours = read_colours(picture, name, remark)
        if self.format.extractor == PIXELS:
            features = pixels_of(colours, self.format.rows)
        else:
            found = efficientnet_features(torch.from_numpy(squash(colours, SIDE)[None]))[0].numpy()
            features = found if self._components is None else self._components.reduce(found)
        return ReadPicture(self.format.take(features, name), shrink(colours, SHOWN) / 255)

    def _extract_frames(self, video: Path | bytes, name: str, count: int) -> ReadPicture:
        pixels, shown = [], []
        for colours in read_frames(video, name, count):  # one at a time, for they may be large
            pixels.append(pixels_of(colours, self.format.rows))
            shown.append(shrink(colours, SHOWN_OF_FRAME))
        return ReadPicture(self.format.take(np.concatenate(pixels), name), np.stack(shown) / 255)

    def _shown(self, features: np.ndarray) -> ReadPicture:
        """Features that someone has made; where they are pixels of a video, it is shown by them."""
        is_video = self.format.frames is not None
        return ReadPicture(features, features.reshape(*self.format.shape, -1) if is_video else None)

    def picture_of(self, name: str) -> np.ndarray | None:
        """A picture of the recipe's own data, (height, width, 3) from 0 to 1; nothing where there is only its name.

        Of a video it is the frame in the middle.
        """
        content = None if self._store is None else self._store.find(name)
        if content is None:
            return None
        is_still = self.format.frames is None
        colours = read_colours(content, name) if is_still else list(read_frames(content, name, 3))[1]
        return shrink(colours, SHOWN) / 255

    def _find(self, name: str) -> ReadPicture:
        """A picture of the recipe's own data."""
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
        """Where the pictures themselves lie, if they are here."""
        name = self.data.pictures
        try:
            return None if name is None or not file_of(name).exists() else PictureStore(name)
        except Fault:  # of a set that has come without them
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
