"""Format of the picture features a model reads: grid, size and origin, stored in its folder."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.data.arrays import arrays_in
from regard.data.captions.files import read_array
from regard.data.prepared import open_kept

FORMAT_FILE = "features.json"
COMPONENTS_FILE = "components.npz"
PIXELS = "pixels"  # extractor name if the pixels themselves are the features
MOST_PLACES = 2**16
MOST_FRAMES = 64
WIDEST = 2**14


class FeatureFormat(BaseModel):
    """Grid of rows × columns places with `width` numbers each; integers are multiplied by `step`.

    A video has such a grid for each of its `frames`, one after another. `extractor` names what computes features from a
    picture; `components` is the checksum of the file that reduces them, if any.
    """

    rows: int = Field(ge=1, le=MOST_PLACES)
    columns: int = Field(ge=1, le=MOST_PLACES)
    width: int = Field(ge=1, le=WIDEST)
    step: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    extractor: str | None = None
    components: str | None = None
    frames: int | None = Field(default=None, ge=2, le=MOST_FRAMES)

    @property
    def places(self) -> int:
        return (self.frames or 1) * self.rows * self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a picture's features, without the last axis (width)."""
        return (*([self.frames] if self.frames else []), self.rows, self.columns)

    def refuse_others(self, others: "FeatureFormat") -> None:
        """Refuse to start from a model of these features with data of other features."""
        if others != self:
            raise Fault(f"The model to start from reads {self.in_words}; this data has {others.in_words}.")

    @property
    def in_words(self) -> str:
        if self.extractor == PIXELS:
            kind = f"videos of {self.frames} frames, each" if self.frames else "pictures"
            return f"{kind} of {self.rows} × {self.columns} pixels"
        by = f" by {self.extractor}" if self.extractor else ""
        return f"features{by} of {self._size_in_words}"

    @property
    def as_fact(self) -> str:
        """Description to follow the word "features"."""
        if self.extractor == PIXELS:
            return self.in_words
        return f"{self._size_in_words}{f', by {self.extractor}' if self.extractor else ''}"

    @property
    def _size_in_words(self) -> str:
        components = f", components {self.components[:8]}" if self.components else ""
        return f"{self.rows} × {self.columns} places, {self.width} numbers each{components}"

    def take(self, features: np.ndarray, name: str) -> np.ndarray:
        """Return the features of one picture as (place, width) in float32; refuse features of another shape."""
        if features.shape not in ((self.places, self.width), (*self.shape, self.width)):
            shape = " × ".join(map(str, features.shape))
            raise Fault(f"{name} holds {shape} numbers; this model reads {self.in_words}.")
        scaled = features.astype(np.float32) * (self.step if np.issubdtype(features.dtype, np.integer) else 1.0)
        if not np.isfinite(scaled).all():
            raise Fault(f"{name} holds a value that is not a finite number.")
        return scaled.reshape(self.places, self.width)


def read_feature_file(path: Path, features: FeatureFormat) -> np.ndarray:
    """Read the features (place, width) of one picture from a .npy file."""
    return features.take(read_array(path, str(path)), str(path))


def open_format(files: Mapping[str, bytes]) -> FeatureFormat:
    """Read the feature format from the untrusted files of a model folder."""
    features = open_kept(FeatureFormat, files, FORMAT_FILE)
    if features.components is not None and features.components != checksum(files.get(COMPONENTS_FILE, b"")):
        raise Fault(f"{COMPONENTS_FILE} of the model folder is missing, or does not belong to its {FORMAT_FILE}.")
    return features


def step_of(components: bytes, name: str) -> float:
    """Return the step of the integers in a file of components."""
    try:
        step = float(arrays_in(components, "step")["step"])
    except (ValueError, TypeError):
        raise Fault(f"{name} is not an .npz file with a 'step' in it.") from None
    if not (np.isfinite(step) and step > 0):
        raise Fault(f"The step in {name} is {step}, expected a number above 0.")
    return step
