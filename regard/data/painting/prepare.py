"""Prepare pictures and captions to paint from: memory-mapped arrays, and the words of the captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress
from regard.data.generated.shapes import picture_of
from regard.data.painting.options import PaintedShapes, PaintingData
from regard.data.pictures.idx import LARGEST_SIDE
from regard.data.pictures.prepare import prepare_pictures
from regard.data.prepared import SPLITS, FinishedRecord, open_arrays, open_kept, prepare_once, save_arrays

SHAPES_FILE = "shapes.json"  # written last for generated shapes
WORDS_FILE = "words.json"
PAD = 0  # fills captions that are shorter


class CaptionWords(BaseModel):
    """Facts stored with a model: the words of its captions, the longest caption, and the shape of its pictures.

    The number of a word is its place among the words, counted from 1.
    """

    words: list[str] = Field(min_length=1, max_length=100_000)
    longest: int = Field(ge=1, le=1000)
    height: int = Field(ge=1, le=LARGEST_SIDE)
    width: int = Field(ge=1, le=LARGEST_SIDE)
    channels: int = Field(ge=1, le=3)

    def numbers(self, caption: str) -> list[int]:
        """Return the numbers of a caption's words; refuse unknown words, too many words, or none."""
        number_of = {word: number for number, word in enumerate(self.words, 1)}
        caption_words = caption.lower().split()
        if not caption_words:
            raise Fault(f"There is no caption; this model knows the words {_some(self.words)}.")
        if unknown := next((word for word in caption_words if word not in number_of), None):
            raise Fault(f"This model does not know the word '{unknown}'; it knows {_some(self.words)}.")
        if len(caption_words) > self.longest:
            raise Fault(f"The caption has {len(caption_words)} words, but this model reads at most {self.longest}.")
        return [number_of[word] for word in caption_words]


@dataclass(frozen=True)
class CaptionedPictures:
    """Some `rows` of pictures (count, channel, height, width), and the captions (count, caption, word) of all."""

    pictures: np.ndarray
    captions: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class PreparedPainting:
    """All pictures and captions of a recipe, by split."""

    words: CaptionWords
    splits: Mapping[str, CaptionedPictures]
    report: list[str]

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {WORDS_FILE: self.words.model_dump_json().encode()}


class _Finished(FinishedRecord):
    """Record of what was generated, and with which options."""

    options: PaintedShapes
    words: CaptionWords
    files: dict[str, str]


def open_words(files: Mapping[str, bytes]) -> CaptionWords:
    """Read the words from the untrusted files of a model folder."""
    return open_kept(CaptionWords, files, WORDS_FILE)


def prepare_painting(options: PaintingData, folder: Path, progress: Progress) -> PreparedPainting:
    """Return the pictures and captions that `options` name, from `folder` if they were prepared before."""
    shapes = options.shapes
    if shapes is None:
        return _prepare_labelled(options, folder, progress)
    finished = prepare_once(
        _Finished,
        folder,
        lambda record: record.options == shapes,
        lambda: _generate(shapes, folder, progress),
        SHAPES_FILE,
    )
    splits = {split: _open_split(folder, split) for split in SPLITS}
    return PreparedPainting(finished.words, splits, [_report(splits, finished.words)])


def _prepare_labelled(options: PaintingData, folder: Path, progress: Progress) -> PreparedPainting:
    assert options.pictures is not None
    if options.pictures.scene is not None:
        raise Fault("data.pictures.scene moves pictures in each epoch, but painting needs fixed pictures; omit it.")
    prepared = prepare_pictures(options.pictures, folder, progress)
    labels = prepared.labels
    if len(options.names) != len(labels.classes):
        raise Fault(
            f"data.names has {quantity(len(options.names), 'name')}, but there are {len(labels.classes)} classes."
        )
    words = _words_of(options.names, 1, labels.height, labels.width)
    of_class = _fill(words, [[name] for name in options.names])
    splits = {
        split: CaptionedPictures(pictures.pictures[:, None], of_class[pictures.labels], pictures.rows)
        for split, pictures in prepared.splits.items()
    }
    return PreparedPainting(words, splits, [_report(splits, words)])


def _generate(options: PaintedShapes, folder: Path, progress: Progress) -> _Finished:
    captions: dict[str, list[list[str]]] = {}
    checksums: dict[str, str] = {}
    for number, split in enumerate(SPLITS):
        count = getattr(options, split)
        pictures = np.empty((count, 3, options.side, options.side), np.uint8)
        captions[split] = []
        for row in range(count):
            if row % 1000 == 0:
                progress(f"drawing shapes to {split}", row, count)
            pixels, texts = picture_of([options.seed, number, row], options.side)
            pictures[row] = pixels.transpose(2, 0, 1)
            captions[split].append(texts)
        checksums |= save_arrays(folder, {f"{split}-pictures.npy": pictures})
    words = _words_of([text for split in SPLITS for row in captions[split] for text in row], 3, *[options.side] * 2)
    checksums |= save_arrays(folder, {f"{split}-captions.npy": _fill(words, captions[split]) for split in SPLITS})
    return _Finished(options=options, words=words, files=checksums)


def _words_of(captions: Sequence[str], channels: int, height: int, width: int) -> CaptionWords:
    """Return all words of these captions, with the length of the longest."""
    split = [caption.lower().split() for caption in captions]
    words = sorted({word for caption in split for word in caption})
    return CaptionWords(words=words, longest=max(map(len, split)), height=height, width=width, channels=channels)


def _fill(words: CaptionWords, captions: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the word numbers (row, caption, word) of captions, padded at the end."""
    numbers = {word: number for number, word in enumerate(words.words, 1)}
    filled = np.full((len(captions), len(captions[0]), words.longest), PAD, np.int64)
    for row, row_captions in enumerate(captions):
        for place, caption in enumerate(row_captions):
            caption_words = caption.lower().split()
            filled[row, place, : len(caption_words)] = [numbers[word] for word in caption_words]
    return filled


def _open_split(folder: Path, split: str) -> CaptionedPictures:
    pictures, captions = open_arrays(folder, f"{split}-pictures", f"{split}-captions")
    return CaptionedPictures(pictures, captions, np.arange(len(pictures)))


def _report(splits: Mapping[str, CaptionedPictures], words: CaptionWords) -> str:
    sizes = ", ".join(f"{len(splits[split].rows):,} {split}" for split in SPLITS if split in splits)
    return f"{sizes} pictures with captions of {len(words.words)} words"


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:40]) + (" and others" if len(words) > 40 else "")
