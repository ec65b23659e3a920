"""Drawings made ready for training: arrays that open at once, and what travels with a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress
from regard.data.corpora.text import file_of
from regard.data.prepared import (
    SPLITS,
    FinishedRecord,
    damaged,
    draw_held_out,
    open_kept,
    prepare_once,
    refuse_missing,
    save_arrays,
)
from regard.data.strokes.codings import Dictionary, Grid, TokenCoding, learn_dictionary
from regard.data.strokes.drawings import DONE, LabelledMoves, read_labelled
from regard.data.strokes.options import LONGEST, LabelledStrokeData, StrokeData

STROKES_FILE = "strokes.json"
ROOM = 1.25  # how much farther than those to learn from a drawing may go
MOST_CLASSES = 10_000
_FARTHEST = 2000  # units that a drawing may go, or counting the points of a dictionary takes too long
_Units = Annotated[int, Field(ge=-2 * _FARTHEST, le=2 * _FARTHEST)]  # from one place that may be reached to another
_Points = Annotated[int, Field(ge=1, le=(2 * _FARTHEST + 1) ** 2)]  # of the lattice


class StrokeScale(BaseModel):
    """Facts that travel with a model: the scale and length of its drawings, the movements of a dictionary, and classes
    if there are any.
    """

    scale: float = Field(gt=0, allow_inf_nan=False)  # units that a move has, by its standard deviation
    bound: int = Field(ge=1, le=_FARTHEST)  # units that a drawing may go from where it begins
    extent: int = Field(ge=1, le=2 * _FARTHEST)  # units that all but a few drawings fit into
    steps: int = Field(ge=1, le=4 * LONGEST)  # numbers or tokens of the longest drawing
    movements: list[tuple[_Units, _Units]] = []
    counts: list[_Points] = []  # points of the lattice that each movement stands for
    classes: list[str] = []

    def coding(self, options: StrokeData) -> TokenCoding | None:
        """Return the coding of drawings as tokens; None if they are numbers."""
        match options.coding:
            case "grid":
                return Grid(options.cells, self.bound)
            case "dictionary":
                if not self.movements:
                    raise Fault("The model to start from has no dictionary of movements; give its data.coding.")
                return Dictionary(np.array(self.movements), np.array(self.counts), self.bound)
        return None

    def refuse_outside(self, moves: np.ndarray, name: str) -> None:
        """Refuse a drawing, called by its name, that is longer or wider than those that were learnt from."""
        if len(moves) > self.steps:
            raise Fault(f"{name} has {len(moves):,} moves; the most is {self.steps:,}.")
        if (farthest := _farthest(moves)) > self.bound:
            raise Fault(f"{name} goes {farthest:,} units from where it begins; the most is {self.bound:,}.")


class _Finished(FinishedRecord):
    """Record of a preparation: the options of drawings with or without classes."""

    options: dict[str, Any]
    scale: StrokeScale
    report: list[str]
    files: dict[str, str]


@dataclass(frozen=True)
class Drawings:
    """Drawings one after the other: their moves (move, 3) or tokens, and where each begins."""

    steps: np.ndarray
    starts: np.ndarray  # (drawing + 1)
    points: np.ndarray  # (drawing): how many moves each has
    labels: np.ndarray | None = None  # (drawing): the number of its class, where it has one

    def __len__(self) -> int:
        return len(self.points)

    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    def __getitem__(self, number: int) -> np.ndarray:
        return self.steps[self.starts[number] : self.starts[number + 1]]


@dataclass(frozen=True)
class PreparedStrokes:
    """All drawings of a recipe, split by split."""

    options: StrokeData
    scale: StrokeScale
    splits: Mapping[str, Drawings]
    report: list[str]

    def files(self) -> dict[str, bytes]:
        """Return its files for a model folder."""
        return {STROKES_FILE: self.scale.model_dump_json().encode()}


def open_scale(files: Mapping[str, bytes]) -> StrokeScale:
    """Open the facts from a model folder, which need not be trusted."""
    found = open_kept(StrokeScale, files, STROKES_FILE)
    if len(found.movements) != len(found.counts):
        raise damaged(STROKES_FILE)
    return found


def check_files_there(options: StrokeData, folder: Path | None) -> None:
    """Refuse drawings of which a file is missing, unless they lie prepared in `folder`."""
    refuse_missing((name for split in SPLITS for name in getattr(options, split) or ()), folder)


def prepare_strokes(
    options: StrokeData, folder: Path, progress: Progress, given: StrokeScale | None = None
) -> PreparedStrokes:
    """The drawings that `options` name, from `folder` if they were prepared there before.

    Their scale is found in those to learn from, unless it is `given` by a model to start from.
    """
    finished = prepare_once(
        _Finished,
        folder,
        lambda record: _tells_of(record, options),
        lambda: _prepare(options, folder, progress, given),
    )
    splits = {split: _open_split(folder, split, finished) for split in SPLITS if f"{split}-steps.npy" in finished.files}
    return PreparedStrokes(options, finished.scale, splits, finished.report)


def _tells_of(finished: _Finished, options: StrokeData) -> bool:
    """Return True if the preparation is what these options ask for; what an older record omits is the default."""
    try:
        return type(options).model_validate(finished.options) == options
    except ValidationError:
        return False


def _prepare(options: StrokeData, folder: Path, progress: Progress, given: StrokeScale | None) -> _Finished:
    progress("reading drawings", 0, 2)
    read = {split: _read_split(options, split) for split in SPLITS if getattr(options, split) is not None}
    if "valid" not in read:
        read["train"], read["valid"] = _hold_out(read["train"], options)
    scale = given or _measure(options, read["train"])
    classes = _classes_of(read["train"]) if isinstance(options, LabelledStrokeData) else []
    if given is not None and classes != given.classes:
        raise Fault(f"The model to start from knows other classes: {', '.join(given.classes[:10])}.")
    progress("coding drawings", 1, 2)
    report, checksums, longest = [], dict[str, str](), 1
    for split, drawings in read.items():
        _refuse_others(split, drawings, classes)
        kept = [each for each in drawings if _fits(each.moves, options, scale)]
        if not kept:
            raise Fault(f"Of the drawings of data.{split} none has at most {options.longest} moves (data.longest).")
        dropped = f", {len(drawings) - len(kept):,} too long or too wide dropped" if len(kept) < len(drawings) else ""
        report.append(f"{split}: {len(kept):,} drawings, {sum(len(each.moves) for each in kept):,} moves{dropped}")
        arrays = _arrays([each.moves for each in kept], scale.coding(options))
        if classes:
            arrays["labels"] = np.array([classes.index(str(each.label)) for each in kept])
        longest = max(longest, int(np.diff(arrays["starts"]).max()))
        checksums |= save_arrays(folder, {f"{split}-{what}.npy": array for what, array in arrays.items()})
    if given is None:
        scale = scale.model_copy(update={"steps": longest, "classes": classes})
    elif longest > given.steps:
        raise Fault(f"A drawing has {longest:,} steps; the model to start from reads {given.steps:,} at most.")
    return _Finished(options=options.model_dump(), scale=scale, report=report, files=checksums)


def _read_split(options: StrokeData, split: str) -> list[LabelledMoves]:
    """All drawings of a split, with the classes that a recipe or their files tell."""
    files = [file_of(name) for name in getattr(options, split)]
    shared = options.labels if isinstance(options, LabelledStrokeData) else None
    labels = [None] * len(files) if shared is None else shared
    found = []
    for file, label in zip(files, labels, strict=True):
        for each in read_labelled(file, split, options.unit, options.simplify):
            found.append(each if label is None else each._replace(label=label))
    return found


def _classes_of(drawings: Sequence[LabelledMoves]) -> list[str]:
    """The classes of the drawings to learn from, by their letters."""
    classes = sorted({each.label for each in drawings if each.label is not None})
    if not classes:
        raise Fault(
            'No drawing of data.train has a label; write each as {"label": …, "strokes": …}, or give data.labels.'
        )
    if not 2 <= len(classes) <= MOST_CLASSES:
        found = "one class" if len(classes) == 1 else f"{len(classes):,} classes"
        raise Fault(f"The drawings of data.train have {found}; 2 to {MOST_CLASSES:,} can be learnt.")
    return classes


def _refuse_others(split: str, drawings: Sequence[LabelledMoves], classes: Sequence[str]) -> None:
    """Refuse drawings without a class, or with one that cannot be learnt, where there are classes."""
    for label in dict.fromkeys(each.label for each in drawings) if classes else ():
        if label is None:
            raise Fault(f'A drawing of data.{split} has no label; write it as {{"label": …, "strokes": …}}.')
        if label not in classes:
            raise Fault(f"data.{split} has the label '{label}', which no drawing to learn from has.")


def _fits(moves: np.ndarray, options: StrokeData, scale: StrokeScale) -> bool:
    return len(moves) <= options.longest and _farthest(moves) <= scale.bound


def _hold_out(drawings: list[LabelledMoves], options: StrokeData) -> tuple[list[LabelledMoves], list[LabelledMoves]]:
    """The drawings to learn from and those to validate by, drawn once and for all."""
    count = round(options.hold_out * len(drawings))
    if not 0 < count < len(drawings):
        raise Fault(
            f"data.train has {quantity(len(drawings), 'drawing')}, too few to hold some out; name others as data.valid."
        )
    learnt, held_out = draw_held_out(len(drawings), count)
    return [drawings[number] for number in learnt], [drawings[number] for number in held_out]


def _measure(options: StrokeData, learnt: Sequence[LabelledMoves]) -> StrokeScale:
    """The scale of the drawings to learn from."""
    drawings = [each.moves for each in learnt if len(each.moves) <= options.longest]
    if not drawings:
        raise Fault(f"Of the drawings of data.train none has at most {options.longest} moves (data.longest).")
    moves = np.concatenate(drawings)[:, :2]
    bound = int(ROOM * max(map(_farthest, drawings))) + 1
    if bound > _FARTHEST:
        raise Fault(f"The drawings go {bound:,} units far, but at most {_FARTHEST:,} can be learnt; give a data.unit.")
    extents = [np.ptp(np.cumsum(each[:, :2], axis=0), axis=0).max() for each in drawings]
    movements, counts = [], []
    if options.coding == "dictionary":
        found = learn_dictionary(moves, options.movements, bound)
        movements, counts = found.movements.tolist(), found.counts.tolist()
    return StrokeScale(
        scale=float(moves.std()) or 1.0,
        bound=bound,
        extent=max(1, int(np.quantile(extents, 0.95))),
        steps=1,
        movements=movements,
        counts=counts,
    )


def _arrays(drawings: Sequence[np.ndarray], coding: TokenCoding | None) -> dict[str, np.ndarray]:
    """The fields of `Drawings`; moves as numbers have a pen of 2 where the drawing ends."""
    steps = [with_end(moves) for moves in drawings] if coding is None else coding.encode(drawings)
    return {
        "steps": np.concatenate(steps).astype(np.int32),
        "starts": np.cumsum([0, *map(len, steps)]),
        "points": np.array([len(moves) for moves in drawings]),
    }


def with_end(moves: np.ndarray) -> np.ndarray:
    """Moves whose last pen says that the drawing ends, as networks read them."""
    ended = moves.copy()
    ended[-1, 2] = DONE
    return ended


def _farthest(moves: np.ndarray) -> int:
    """Return how many units a drawing goes at most from its beginning, or in one move."""
    return int(max(np.abs(moves[:, :2]).max(), np.abs(np.cumsum(moves[:, :2], axis=0)).max()))


def _open_split(folder: Path, split: str, finished: _Finished) -> Drawings:
    names = ("steps", "starts", "points", *(["labels"] if finished.scale.classes else []))
    return Drawings(*(np.load(folder / f"{split}-{name}.npy", allow_pickle=False) for name in names))
