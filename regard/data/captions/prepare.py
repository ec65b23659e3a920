"""Prepare captions and features for training: a memory-mapped array, and the files stored with a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.base.progress import Progress
from regard.data.captions.features import COMPONENTS_FILE, FORMAT_FILE, FeatureFormat, step_of
from regard.data.captions.files import read_captions, read_features, read_names
from regard.data.captions.generated import generate_all
from regard.data.captions.options import CaptionData, FeatureFiles
from regard.data.captions.pixels import pixel_format, read_pixels
from regard.data.corpora.text import file_of
from regard.data.prepared import (
    FinishedRecord,
    damaged,
    open_arrays,
    prepare_once,
    refuse_missing,
    save_arrays,
    save_files,
)
from regard.data.tokenisers.spaces import SpaceTokeniser, split_at_spaces
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.words import count_words, read_words

FEATURES = "features"
WORDS = "tokeniser"  # name of the word list in a model folder


class CaptionedPicture(BaseModel):
    """A picture's name and its captions, in plain words."""

    name: str
    captions: list[str]


class _Finished(FinishedRecord):
    """Record of a preparation; the pictures of all splits are in the order of their features."""

    options: CaptionData
    format: FeatureFormat
    words: list[str]
    splits: dict[str, list[CaptionedPicture]]
    files: dict[str, str]


@dataclass(frozen=True)
class PreparedCaptions:
    """Pictures of each split with their captions, and the features (picture, place, width) of all of them."""

    options: CaptionData
    format: FeatureFormat
    components: bytes | None
    tokeniser: SpaceTokeniser
    splits: Mapping[str, Sequence[CaptionedPicture]]
    features: np.ndarray
    report: list[str]

    def first_of(self, split: str) -> int:
        """Return the row at which the features of a split begin."""
        names = list(self.splits)
        return sum(len(self.splits[other]) for other in names[: names.index(split)])

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        reducing = {} if self.components is None else {COMPONENTS_FILE: self.components}
        return {FORMAT_FILE: self.format.model_dump_json().encode(), **reducing, **self.tokeniser.files(WORDS)}


def open_words(files: Mapping[str, bytes]) -> SpaceTokeniser:
    """Read the word list from the untrusted files of a model folder."""
    try:
        return SpaceTokeniser(read_words(files[f"{WORDS}.json"]))
    except (KeyError, ValueError, RecursionError):
        raise damaged(f"{WORDS}.json") from None


def check_captions_there(options: CaptionData, folder: Path | None) -> None:
    """Refuse data with a missing file, unless it lies prepared in `folder`."""
    features = options.features
    read = (options.pictures,) if features == "own" else (features.file, features.names, features.components)
    names = filter(None, (options.captions, *read, *options.parts.values()))
    refuse_missing(names, folder, may_be_folders=True)


def prepare_captions(
    options: CaptionData, folder: Path, progress: Progress, words: SpaceTokeniser | None = None
) -> PreparedCaptions:
    """Return the data that `options` name, from `folder` if it was prepared there before.

    The vocabulary comes from the training captions, or from the model to start from.
    """
    finished = prepare_once(
        _Finished, folder, lambda record: record.options == options, lambda: _prepare(options, folder, progress)
    )
    components = (folder / COMPONENTS_FILE).read_bytes() if COMPONENTS_FILE in finished.files else None
    tokeniser = words or SpaceTokeniser(finished.words)
    sizes = ", ".join(f"{len(pictures):,} {split}" for split, pictures in finished.splits.items())
    captions = [caption for picture in finished.splits["train"] for caption in picture.captions]
    long = sum(len(caption.split()) > options.longest for caption in captions)
    dropped = [f"{long:,} captions of more than {options.longest} words are left out of training"] if long else []
    return PreparedCaptions(
        options,
        finished.format,
        components,
        tokeniser,
        finished.splits,
        open_arrays(folder, FEATURES)[0],
        [
            f"{sizes} {options.seen}, {len(captions):,} training captions, {tokeniser.size - len(NAMES):,} words",
            *dropped,
        ],
    )


def _prepare(options: CaptionData, folder: Path, progress: Progress) -> _Finished:
    content = _generate(options, progress) if options.shapes is not None else _read(options, progress)
    files = save_arrays(folder, {f"{FEATURES}.npy": content.features})
    if content.components is not None:
        files |= save_files(folder, {COMPONENTS_FILE: content.components})
    training_captions = (caption for picture in content.splits["train"] for caption in picture.captions)
    words = count_words(training_captions, options.vocabulary - len(NAMES), options.at_least, split_at_spaces)
    if not words:
        raise Fault(f"No word occurs {options.at_least} times in the training captions; lower data.at_least.")
    return _Finished(options=options, format=content.format, words=words, splits=content.splits, files=files)


class _Found(NamedTuple):
    """Data that the options name, read or generated: pictures, captions, and features (picture, place, width)."""

    splits: dict[str, list[CaptionedPicture]]
    features: np.ndarray
    format: FeatureFormat
    components: bytes | None = None


def _generate(options: CaptionData, progress: Progress) -> _Found:
    """Generate shapes, each picture or video from the seed, its split and its number."""
    pixels, captions = generate_all(options, progress)
    splits = {
        split: [
            CaptionedPicture(name=f"{split}-{number}", captions=next(captions))
            for number in range(getattr(options.shapes, split))
        ]
        for split in options.parts
    }
    return _Found(splits, pixels, pixel_format(options.side, options.frames))


def _read(options: CaptionData, progress: Progress) -> _Found:
    progress("reading captions", 0, 2)
    splits = _read_splits(options)
    pictures_in_order = [picture.name for pictures in splits.values() for picture in pictures]
    if options.features == "own":
        assert options.pictures is not None
        pixels = read_pixels(options.pictures, pictures_in_order, options.side, options.frames, progress)
        return _Found(splits, pixels, pixel_format(options.side, options.frames))
    progress("reading features", 1, 2)
    names = read_names(options.features.names)
    row_of = {name: row for row, name in enumerate(names)}
    features = read_features(options.features, names)
    if missing := next((name for name in pictures_in_order if name not in row_of), None):
        raise Fault(f"{options.features.file} has no features of the picture {missing}.")
    progress("reading features", 2, 2)
    components = _read_components(options.features)
    form = _format_of(options.features, features.shape[2], components)
    return _Found(splits, features[[row_of[name] for name in pictures_in_order]], form, components)


def _read_splits(options: CaptionData) -> dict[str, list[CaptionedPicture]]:
    """Return the pictures of each split with their captions; refuse one without captions or in two splits."""
    assert options.captions is not None
    captions, splits = read_captions(options.captions), dict[str, list[CaptionedPicture]]()
    split_of: dict[str, str] = {}
    for split, file in options.parts.items():
        splits[split] = []
        for name in read_names(file):
            if not captions.get(name):
                worded = " with a word in it" if name in captions else ""
                raise Fault(f"{options.captions} has no caption{worded} for {name}, which {file} lists.")
            if other := split_of.get(name):
                raise Fault(f"{name} is in both {other} and {split}.")
            split_of[name] = split
            splits[split].append(CaptionedPicture(name=name, captions=captions[name]))
    return splits


def _read_components(options: FeatureFiles) -> bytes | None:
    name = options.components
    return None if name is None else file_of(name).read_bytes()


def _format_of(options: FeatureFiles, width: int, components: bytes | None) -> FeatureFormat:
    rows, columns = options.grid
    return FeatureFormat(
        rows=rows,
        columns=columns,
        width=width,
        step=1.0 if components is None else step_of(components, options.components or ""),
        extractor=options.extractor,
        components=None if components is None else checksum(components),
    )
