"""Prepare pictures for training: memory-mapped arrays, and the files stored with a model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress
from regard.data.catalogue.unpack import bare
from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.data.pictures.files import read_listing
from regard.data.pictures.fitting import Expected, background_of
from regard.data.pictures.idx import LARGEST_SIDE, read_labels, read_pictures
from regard.data.pictures.options import PIECE, LabelledFiles, PictureFiles, PictureSets
from regard.data.prepared import (
    SPLITS,
    FinishedRecord,
    draw_held_out,
    open_arrays,
    open_kept,
    prepare_once,
    refuse_missing,
    save_arrays,
)

LABELS_FILE = "labels.json"
MOST_CLASSES = 10_000
UNLABELLED = ""  # the single class of pictures without labels


class PictureLabels(BaseModel):
    """Facts stored with a model: the names of its classes, and the size of its pictures."""

    classes: list[str] = Field(min_length=1, max_length=MOST_CLASSES)
    height: int = Field(ge=1, le=LARGEST_SIDE)
    width: int = Field(ge=1, le=LARGEST_SIDE)
    background: int | None = Field(default=None, ge=0, le=255)  # brightness of borders; None in old folders

    @property
    def expected(self) -> Expected:
        """Requirements that a picture must meet to be read."""
        return Expected((self.height, self.width), self.background)

    def refuse_others(self, others: "PictureLabels") -> None:
        """Refuse to start from a model with these labels on pictures with others."""
        if others.classes != self.classes:
            raise Fault(f"The model to start from has other classes: {', '.join(self.classes[:10])}.")
        self.refuse_other_sizes(others)

    def refuse_other_sizes(self, others: "PictureLabels") -> None:
        """Refuse to start from a model of such pictures on pictures of another size."""
        if (others.height, others.width) != (self.height, self.width):
            raise Fault(
                f"The model to start from reads pictures of {self.height} × {self.width} pixels; these have"
                f" {others.height} × {others.width}."
            )


class _Finished(FinishedRecord):
    """Record of a preparation."""

    options: PictureSets
    labels: PictureLabels
    files: dict[str, str]


@dataclass(frozen=True)
class LabelledPictures:
    """Some `rows` of pictures (count, height, width) and of their labels, which are class numbers."""

    pictures: np.ndarray
    labels: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True)
class PreparedPictures:
    """All pictures of a recipe, by split."""

    options: PictureSets
    labels: PictureLabels
    splits: Mapping[str, LabelledPictures]
    report: list[str]

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {LABELS_FILE: self.labels.model_dump_json(exclude_none=True).encode()}


def open_labels(files: Mapping[str, bytes]) -> PictureLabels:
    """Read the labels from the untrusted files of a model folder."""
    return open_kept(PictureLabels, files, LABELS_FILE)


def check_files_there(options: PictureSets, folder: Path | None) -> None:
    """Refuse pictures with a missing file, unless they lie prepared in `folder`."""
    sets = filter(None, (getattr(options, split) for split in SPLITS))
    refuse_missing((name for files in sets for name in files.names), folder)


def prepare_pictures(options: PictureSets, folder: Path, progress: Progress) -> PreparedPictures:
    """Return the pictures that `options` name, from `folder` if they were prepared there before."""
    finished = prepare_once(
        _Finished,
        folder,
        lambda record: record.options.model_dump() == options.model_dump(),
        lambda: _prepare(options, folder, progress),
    )
    splits = {split: _open_split(folder, split) for split in SPLITS if getattr(options, split) is not None}
    if options.valid is None:
        splits["train"], splits["valid"] = _hold_out(splits["train"], options)
    sizes = ", ".join(f"{len(splits[split].rows):,} {split}" for split in SPLITS if split in splits)
    classes = f", {len(finished.labels.classes)} classes" if isinstance(options.train, LabelledFiles) else ""
    return PreparedPictures(options, finished.labels, splits, [f"{sizes} pictures{classes}"])


def _prepare(options: PictureSets, folder: Path, progress: Progress) -> _Finished:
    sources: dict[str, PictureFiles] = {split: files for split in SPLITS if (files := getattr(options, split))}
    checksums: dict[str, str] = {}
    for number, (split, files) in enumerate(sources.items()):
        progress("reading pictures", number, len(sources))
        pictures, names = _read(files)
        if split == "train":
            size, classes = pictures.shape[1:], sorted(set(names), key=_numbers_first)
            background = background_of(pictures) if options.scene is None else 0  # scenes are made on black
            labels = _describe(options, size, classes).model_copy(update={"background": background})
        _refuse_others(files, pictures.shape[1:], size, sorted(set(names) - set(classes)))
        numbers = {name: number for number, name in enumerate(classes)}
        of_rows = np.array([numbers[name] for name in names])
        checksums |= save_arrays(folder, {f"{split}-pictures.npy": pictures, f"{split}-labels.npy": of_rows})
    progress("reading pictures", len(sources), len(sources))
    return _Finished(options=options, labels=labels, files=checksums)


def _read(files: PictureFiles) -> tuple[np.ndarray, list[str]]:
    """Return the pictures of a set, and the class name of each."""
    labelled = isinstance(files, LabelledFiles)
    if files.listing is not None:
        pictures, labels = read_listing(file_of(files.listing), labelled)
        return pictures, labels if labelled else [UNLABELLED] * len(pictures)
    pictures = read_pictures(file_of(str(files.pictures)))
    if not labelled:
        return pictures, [UNLABELLED] * len(pictures)
    labels = _read_labels(file_of(str(files.labels)))
    if len(pictures) != len(labels):
        raise Fault(
            f"{files.pictures} holds {quantity(len(pictures), 'picture')}, but {files.labels} holds "
            f"{quantity(len(labels), 'label')}."
        )
    return pictures, labels


def _read_labels(path: Path) -> list[str]:
    if Path(bare(path.name)).suffix.lower() != ".txt":
        return list(map(str, read_labels(path)))
    labels = [line.strip() for line in read_lines(path)]
    if "" in labels:
        raise Fault(f"{path}, line {labels.index('') + 1}: there is no label.")
    return labels


def _describe(options: PictureSets, size: tuple[int, ...], classes: list[str]) -> PictureLabels:
    """Describe training pictures of this size; refuse those from which nothing can be learnt."""
    name, scene = options.train.name, options.scene
    if isinstance(options.train, LabelledFiles) and not 2 <= len(classes) <= MOST_CLASSES:
        raise Fault(f"{name} has {len(classes):,} classes; a classifier needs 2 to {MOST_CLASSES:,}.")
    if scene is not None and scene.side < max(size):
        raise Fault(f"data.scene.side is {scene.side}, but the pictures of {name} have {size[0]} × {size[1]} pixels.")
    if scene is not None and scene.clutter and min(size) < PIECE:
        raise Fault(f"data.scene.clutter needs pictures of {PIECE} pixels per side; {name} has {size[0]} × {size[1]}.")
    height, width = size if scene is None else (scene.side, scene.side)
    return PictureLabels(classes=classes, height=height, width=width)


def _refuse_others(files: PictureFiles, actual: tuple[int, ...], size: tuple[int, ...], unknown: list[str]) -> None:
    """Refuse pictures whose size or labels differ from those of the training pictures."""
    if actual != size:
        raise Fault(
            f"{files.name} holds pictures of {actual[0]} × {actual[1]} pixels, but the training pictures have "
            f"{size[0]} × {size[1]}."
        )
    if unknown:
        raise Fault(f"{files.name} has the label '{unknown[0]}', which no training picture has.")


def _numbers_first(name: str) -> tuple[bool, int, str]:
    """Return a sort key for class names: numbers by value, then the others alphabetically."""
    is_number = name.isascii() and name.isdecimal()
    return not is_number, int(name) if is_number else 0, name


def _open_split(folder: Path, split: str) -> LabelledPictures:
    pictures, labels = open_arrays(folder, f"{split}-pictures", f"{split}-labels")
    return LabelledPictures(pictures, labels, np.arange(len(labels)))


def _hold_out(train: LabelledPictures, options: PictureSets) -> tuple[LabelledPictures, LabelledPictures]:
    """Return the training pictures and those held out for validation; the draw is always the same."""
    count = min(options.hold_out, len(train.rows) // 5)
    if not count:
        raise Fault(
            f"{options.train.name} has {quantity(len(train.rows), 'picture')}; with fewer than 5, "
            "name others as data.valid."
        )
    learnt, held_out = draw_held_out(len(train.rows), count)
    return replace(train, rows=learnt), replace(train, rows=held_out)
