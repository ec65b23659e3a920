"""The features of a picture that someone has: of its file, of a .npy file with them, or by its name in a set."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.data.captions.features import COMPONENTS_FILE, FeatureFormat, read_feature_file
from regard.data.captions.files import read_features, read_names
from regard.data.captions.options import FeatureFiles
from regard.data.corpora.text import file_of

Given = str | Path | bytes | np.ndarray


@dataclass(frozen=True)
class FeatureReader:
    """From a picture, as people have it, to its features (place, width) in float32, as one model reads them."""

    format: FeatureFormat
    components: bytes | None  # by which features are reduced, where they are
    files: FeatureFiles  # where the features of the recipe's own pictures lie

    @classmethod
    def of(cls, features: FeatureFormat, files: Mapping[str, bytes], named: FeatureFiles) -> "FeatureReader":
        """For a model whose folder has these files."""
        return cls(features, files.get(COMPONENTS_FILE), named)

    def read(self, given: Given) -> np.ndarray:
        """The features of a picture: made of its file or of that file's content, read from a .npy file, or found.

        What is no file may be the name of a picture whose features the recipe names.
        """
        if isinstance(given, np.ndarray):
            return self.format.take(given, "The array")
        if isinstance(given, bytes):
            return self.extract(given, "The picture")
        path = Path(given)
        if path.suffix == ".npy":
            return read_feature_file(path, self.format)
        if path.exists():
            return self.extract(path.read_bytes(), str(path))
        return self._find(str(given))

    def extract(self, picture: bytes, name: str) -> np.ndarray:
        """The features of a picture, from the content of its file."""
        made = f"by {self.format.extractor}" if self.format.extractor else "elsewhere"
        raise Fault(
            f"{name} cannot be read: this model reads {self.format.in_words}, which are made {made}; give a .npy file "
            "with them, or the name of a picture of its data."
        )

    def _find(self, name: str) -> np.ndarray:
        """The features of a picture of the recipe's own data."""
        if not file_of(self.files.names).exists() or name not in self._rows:
            raise Fault(f"There is no file {name}, and no picture of that name in the data of this model.")
        return self.format.take(self._features[self._rows[name]], name)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(read_names(self.files.names))}

    @cached_property
    def _features(self) -> np.ndarray:
        return read_features(self.files, list(self._rows))
