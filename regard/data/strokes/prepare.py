"""Prepare drawings for training: memory-mapped arrays, and the files stored with a model."""

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
ROOM = 1.25  # how much farther a drawing may reach than the training drawings
MOST_CLASSES = 10_000
_FARTHEST = 2000  # most units a drawing may reach; beyond, counting dictionary points takes too long
_Units = Annotated[int, Field(ge=-2 * _FARTHEST, le=2 * _FARTHEST)]  # between two reachable places
_Points = Annotated[int, Field(ge=1, le=(2 * _FARTHEST + 1) ** 2)]  # lattice points


class StrokeScale(BaseModel):
    """Facts stored with a model: scale and length of its drawings, movements of a dictionary, and classes if any."""

    scale: float = Field(gt=0, allow_inf_nan=False)  # standard deviation of a move, in units
    bound: int = Field(ge=1, le=_FARTHEST)  # most units that a drawing may reach from its beginning
    extent: int = Field(ge=1, le=2 * _FARTHEST)  # units that nearly all drawings fit into
    steps: int = Field(ge=1, le=4 * LONGEST)  # moves or tokens of the longest drawing
    movements: list[tuple[_Units, _Units]] = []
    counts: list[_Points] = []  # lattice points that each movement stands for
    classes: list[str] = []

    def coding(self, options: StrokeData) -> TokenCoding | None:
        """Return the token coding of drawings; None if they are numbers."""
        match options.coding:
            case "grid":
                return Grid(options.cells, self.bound)
            case "dictionary":
                if not self.movements:
                    raise Fault("The model to start from has no dictionary of movements; use its data.coding.")
                return Dictionary(np.array(self.movements), np.array(self.counts), self.bound)
        return None

    def refuse_outside(self, moves: np.ndarray, name: str) -> None:
        """Refuse a drawing that is longer or wider than the training drawings."""
        if len(moves) > self.steps:
            raise Fault(f"{name} has {len(moves):,} moves; the most is {self.steps:,}.")
        if (farthest := _farthest(moves)) > self.bound:
            raise Fault(f"{name} reaches {farthest:,} units from its beginning; the most is {self.bound:,}.")


class _Finished(FinishedRecord):
    """Record of a preparation: the options of drawings with or without classes."""

    options: dict[str, Any]
    scale: StrokeScale
    report: list[str]
    files: dict[str, str]


@dataclass(frozen=True)
class Drawings:
    """Drawings in one array: their moves (move, 3) or tokens, and where each begins."""

    steps: np.ndarray
    starts: np.ndarray  # (drawing + 1)
    points: np.ndarray  # (drawing): number of moves
    labels: np.ndarray | None = None  # (drawing): class number, if it has one

    def __len__(self) -> int:
        return len(self.points)

    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    def __getitem__(self, number: int) -> np.ndarray:
        return self.steps[self.starts[number] : self.starts[number + 1]]


@dataclass(frozen=True)
class PreparedStrokes:
    """All drawings of a recipe, by split."""

    options: StrokeData
    scale: StrokeScale
    splits: Mapping[str, Drawings]
    report: list[str]

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {STROKES_FILE: self.scale.model_dump_json().encode()}


def open_scale(files: Mapping[str, bytes]) -> StrokeScale:
    """Read the facts from the untrusted files of a model folder."""
    scale = open_kept(StrokeScale, files, STROKES_FILE)
    if len(scale.movements) != len(scale.counts):
        raise damaged(STROKES_FILE)
    return scale


def check_files_there(options: StrokeData, folder: Path | None) -> None:
    """Refuse drawings with a missing file, unless they lie prepared in `folder`."""
    refuse_missing((name for split in SPLITS for name in getattr(options, split) or ()), folder)


def prepare_strokes(
    options: StrokeData, folder: Path, progress: Progress, given: StrokeScale | None = None
) -> PreparedStrokes:
    """Return the drawings that `options` name, from `folder` if they were prepared there before.

    Their scale comes from the training drawings, unless a model to start from has `given` it.
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
    """Return True if the preparation fits these options; an older record may omit defaults."""
    try:
        return type(options).model_validate(finished.options) == options
    except ValidationError:
        return False


def _prepare(options: StrokeData, folder: Path, progress: Progress, given: StrokeScale | None) -> _Finished:
    progress("reading drawings", 0, 2)
    drawings_of_split = {split: _read_split(options, split) for split in SPLITS if getattr(options, split) is not None}
    if "valid" not in drawings_of_split:
        drawings_of_split["train"], drawings_of_split["valid"] = _hold_out(drawings_of_split["train"], options)
    scale = given or _measure(options, drawings_of_split["train"])
    classes = _classes_of(drawings_of_split["train"]) if isinstance(options, LabelledStrokeData) else []
    if given is not None and classes != given.classes:
        raise Fault(f"The model to start from has other classes: {', '.join(given.classes[:10])}.")
    progress("coding drawings", 1, 2)
    report, checksums, longest = [], dict[str, str](), 1
    for split, drawings in drawings_of_split.items():
        _refuse_others(split, drawings, classes)
        kept_drawings = [drawing for drawing in drawings if _fits(drawing.moves, options, scale)]
        if not kept_drawings:
            raise Fault(f"No drawing of data.{split} has at most {options.longest} moves (data.longest).")
        dropped = (
            f", {len(drawings) - len(kept_drawings):,} too long or too wide dropped"
            if len(kept_drawings) < len(drawings)
            else ""
        )
        moves = sum(len(drawing.moves) for drawing in kept_drawings)
        report.append(f"{split}: {len(kept_drawings):,} drawings, {moves:,} moves{dropped}")
        arrays = _arrays([drawing.moves for drawing in kept_drawings], scale.coding(options))
        if classes:
            arrays["labels"] = np.array([classes.index(str(drawing.label)) for drawing in kept_drawings])
        longest = max(longest, int(np.diff(arrays["starts"]).max()))
        checksums |= save_arrays(folder, {f"{split}-{field}.npy": array for field, array in arrays.items()})
    if given is None:
        scale = scale.model_copy(update={"steps": longest, "classes": classes})
    elif longest > given.steps:
        raise Fault(f"A drawing has {longest:,} steps, but the model to start from reads at most {given.steps:,}.")
    return _Finished(options=options.model_dump(), scale=scale, report=report, files=checksums)


def _read_split(options: StrokeData, split: str) -> list[LabelledMoves]:
    """Return all drawings of a split, with the classes from the recipe or their files."""
    files = [file_of(name) for name in getattr(options, split)]
    shared = options.labels if isinstance(options, LabelledStrokeData) else None
    labels = [None] * len(files) if shared is None else shared
    drawings = []
    for file, label in zip(files, labels, strict=True):
        for drawing in read_labelled(file, split, options.unit, options.simplify):
            drawings.append(drawing if label is None else drawing._replace(label=label))
    return drawings


def _classes_of(drawings: Sequence[LabelledMoves]) -> list[str]:
    """Return the classes of the training drawings, sorted."""
    classes = sorted({drawing.label for drawing in drawings if drawing.label is not None})
    if not classes:
        raise Fault(
            'No drawing of data.train has a label; write each as {"label": …, "strokes": …}, or give data.labels.'
        )
    if not 2 <= len(classes) <= MOST_CLASSES:
        amount = "one class" if len(classes) == 1 else f"{len(classes):,} classes"
        raise Fault(f"The drawings of data.train have {amount}; a classifier needs 2 to {MOST_CLASSES:,}.")
    return classes


def _refuse_others(split: str, drawings: Sequence[LabelledMoves], classes: Sequence[str]) -> None:
    """If there are classes, refuse drawings without one or with one that is not in training."""
    for label in dict.fromkeys(drawing.label for drawing in drawings) if classes else ():
        if label is None:
            raise Fault(f'A drawing of data.{split} has no label; write it as {{"label": …, "strokes": …}}.')
        if label not in classes:
            raise Fault(f"data.{split} has the label '{label}', which no training drawing has.")


def _fits(moves: np.ndarray, options: StrokeData, scale: StrokeScale) -> bool:
    return len(moves) <= options.longest and _farthest(moves) <= scale.bound


def _hold_out(drawings: list[LabelledMoves], options: StrokeData) -> tuple[list[LabelledMoves], list[LabelledMoves]]:
    """Return the training drawings and those held out for validation; the draw is always the same."""
    count = round(options.hold_out * len(drawings))
    if not 0 < count < len(drawings):
        raise Fault(
            f"data.train has {quantity(len(drawings), 'drawing')}, too few to hold some out; name others as data.valid."
        )
    learnt, held_out = draw_held_out(len(drawings), count)
    return [drawings[number] for number in learnt], [drawings[number] for number in held_out]


def _measure(options: StrokeData, learnt: Sequence[LabelledMoves]) -> StrokeScale:
    """Return the scale of the training drawings."""
    drawings = [drawing.moves for drawing in learnt if len(drawing.moves) <= options.longest]
    if not drawings:
        raise Fault(f"No drawing of data.train has at most {options.longest} moves (data.longest).")
    moves = np.concatenate(drawings)[:, :2]
    bound = int(ROOM * max(map(_farthest, drawings))) + 1
    if bound > _FARTHEST:
        raise Fault(
            f"The drawings reach {bound:,} units, but at most {_FARTHEST:,} can be learnt; give a larger data.unit."
        )
    extents = [np.ptp(np.cumsum(drawing[:, :2], axis=0), axis=0).max() for drawing in drawings]
    movements, counts = [], []
    if options.coding == "dictionary":
        dictionary = learn_dictionary(moves, options.movements, bound)
        movements, counts = dictionary.movements.tolist(), dictionary.counts.tolist()
    return StrokeScale(
        scale=float(moves.std()) or 1.0,
        bound=bound,
        extent=max(1, int(np.quantile(extents, 0.95))),
        steps=1,
        movements=movements,
        counts=counts,
    )


def _arrays(drawings: Sequence[np.ndarray], coding: TokenCoding | None) -> dict[str, np.ndarray]:
    """Return the fields of `Drawings`; as numbers, the last move of a drawing has the pen 2."""
    steps = [with_end(moves) for moves in drawings] if coding is None else coding.encode(drawings)
    return {
        "steps": np.concatenate(steps).astype(np.int32),
        "starts": np.cumsum([0, *map(len, steps)]),
        "points": np.array([len(moves) for moves in drawings]),
    }


def with_end(moves: np.ndarray) -> np.ndarray:
    """Return moves whose last pen value ends the drawing, as networks read them."""
    ended = moves.copy()
    ended[-1, 2] = DONE
    return ended


def _farthest(moves: np.ndarray) -> int:
    """Return the most units that a drawing reaches from its beginning, or in one move."""
    return int(max(np.abs(moves[:, :2]).max(), np.abs(np.cumsum(moves[:, :2], axis=0)).max()))


def _open_split(folder: Path, split: str, finished: _Finished) -> Drawings:
    names = ("steps", "starts", "points", *(["labels"] if finished.scale.classes else []))
    return Drawings(*(np.load(folder / f"{split}-{name}.npy", allow_pickle=False) for name in names))
