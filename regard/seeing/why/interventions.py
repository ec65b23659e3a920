"""Changes inside a model that move a decision: states from another input, heads and feed-forward units switched off."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.attention.editing import Edit, editing
from regard.attention.heads import MultiHead
from regard.attention.watch import numbered_blocks
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.parts import FeedForward
from regard.seeing.calls import recorded_calls
from regard.seeing.why.decision import Question
from regard.seeing.why.question import ask

AT_ONCE = 64  # rows of one pass, each with an edit of its own
LEAST = 1e-6  # nats by which two inputs must differ
EVERYWHERE = "all places"
# Tasks whose output is not among the units, so that its places need not correspond.
_WRITE_ELSEWHERE = ("translation", "captioning", "transcription", "handwriting")
_BLOCK = re.compile(r"(?:.*\.)?(?:encoder|blocks)\.(\d+)")


@dataclass(frozen=True)
class Grid:
    """Numbers (row, column) of what changed a decision, such as by layer and place."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: np.ndarray
    caption: str


def patch_from(model: Loaded, question: Question, item: Any) -> Grid:
    """Put the states of another input into this one, by layer and place, and measure how far the decision moves.

    (log p(patched) − log p) / (log p(other) − log p): 0 where nothing moves, 1 where the other input decides alone.
    """
    writes_elsewhere = model.recipe.task in _WRITE_ELSEWHERE
    other = ask(model, item, question.output if writes_elsewhere else None)
    if len(other.names) != len(question.names):
        counts = f"{len(question.names)} and {len(other.names)}"
        raise Fault(f"The inputs have {counts} units; patching needs the same number, so that places correspond.")
    if not writes_elsewhere and list(question.queries or ()) != list(other.queries or ()):
        raise Fault("The two inputs are decided at different places; patching needs the same place in both.")
    own, states = _blocks(model, question, question.inputs), _blocks(model, question, other.inputs)
    if not own:
        raise Fault("Patching needs blocks of a Transformer that read the input, which this model does not have.")
    before, after = _scores(question, torch.stack([question.inputs, other.inputs]))
    if abs(after - before) < LEAST:
        raise Fault("With the other input the decision is just as probable, so nothing can move; give another.")
    count, first = len(question.names), 0 if question.keys is None else question.keys[0]
    rows = [_patched_inputs(question, other)]
    for name, output in states.items():
        edits = [
            Edit(
                at=name,
                part="output",
                do="replace",
                queries=[first + place],
                rows=[place],
                values=output[first + place],
            )
            for place in range(count)
        ]
        places = list(range(first, first + count))
        edits.append(Edit(at=name, part="output", do="replace", queries=places, rows=[count], values=output[places]))
        rows.append(_edited(model, question, edits, count + 1))
    moved = (np.array(rows) - before) / (after - before)
    names = ["embedding", *(f"block {number}" for number in range(1, len(states) + 1))]
    caption = f"How far the decision moves to “{other.text}” when its state is put into this place: 1 is all the way."
    return Grid("States from the other input", names, [*question.names, EVERYWHERE], moved, caption)


def ablate_heads(model: Loaded, question: Question) -> list[Grid]:
    """Switch off every head by itself; return what log p loses, one grid for each side."""
    modules = dict(model.named_modules())
    sides: dict[str, list[tuple[int, int]]] = {}
    for where, (side, number) in numbered_blocks(model).items():
        heads = modules.get(where.rpartition(".")[0])
        if isinstance(heads, MultiHead):
            sides.setdefault(side, []).append((number, heads.heads))
    if not sides:
        raise Fault("This model has no attention with heads that could be switched off.")
    whole, grids = _scores(question, question.inputs[None])[0], []
    for side, blocks in sides.items():
        numbers = [(block, head) for block, count in blocks for head in range(1, count + 1)]
        lost = whole - _each(
            model, question, [(f"{side}.{block}.{head}", None) for block, head in numbers], part="head"
        )
        values = np.zeros((len(blocks), max(count for _, count in blocks)))
        for (block, head), loss in zip(numbers, lost, strict=True):
            values[block - 1, head - 1] = loss
        columns = [f"head {head}" for head in range(1, values.shape[1] + 1)]
        rows = [f"block {number}" for number, _ in blocks]
        grids.append(Grid(side, rows, columns, values, "What log p loses when this head contributes nothing."))
    return grids


def ablate_units(model: Loaded, question: Question) -> Grid:
    """Switch off every feed-forward unit by itself; return what log p loses, by block and unit."""
    blocks = [(name, part) for name, part in model.named_modules() if isinstance(part, FeedForward)]
    if not blocks:
        raise Fault("This model has no feed-forward nets whose units could be switched off.")
    whole, rows = _scores(question, question.inputs[None])[0], []
    widest = max(part.inner.out_features for _, part in blocks)
    for name, part in blocks:
        # A unit that is zero before its activation is zero after it, for all activations here.
        spots = [(f"{name}.inner", unit) for unit in range(part.inner.out_features)]
        lost = whole - _each(model, question, spots, part="output")
        rows.append(np.pad(lost, (0, widest - len(lost))))
    names = [name.removesuffix(".feed_forward") for name, _ in blocks]
    columns = [str(unit + 1) for unit in range(widest)]
    return Grid("Feed-forward units", names, columns, np.array(rows), "What log p loses without this unit.")


def _each(model: Loaded, question: Question, spots: Sequence[tuple[str, int | None]], part: str) -> np.ndarray:
    """Return log p with each of these heads or units at zero by itself, several in one pass."""
    found = []
    for first in range(0, len(spots), AT_ONCE):
        portion = spots[first : first + AT_ONCE]
        edits = [
            Edit.model_validate(
                {"at": at, "part": part, "do": "zero", "rows": [row]} | ({} if unit is None else {"units": [unit]})
            )
            for row, (at, unit) in enumerate(portion)
        ]
        found.append(_edited(model, question, edits, len(portion)))
    return np.concatenate(found)


@torch.no_grad()
def _edited(model: Loaded, question: Question, edits: Sequence[Edit], rows: int) -> np.ndarray:
    """Return log p of each row, each with its own edits."""
    with editing(model, list(edits)):
        scores = question.log_probability(question.inputs.expand(rows, -1, -1))
    return np.array(scores.double().tolist())


@torch.no_grad()
def _scores(question: Question, copies: Tensor) -> list[float]:
    return [float(score) for score in question.log_probability(copies)]


def _patched_inputs(question: Question, other: Question) -> np.ndarray:
    """Return log p with the other vector in each place, and in all of them."""
    count = len(question.names)
    copies = question.inputs.expand(count + 1, -1, -1).clone()
    copies[torch.arange(count), torch.arange(count)] = other.inputs
    copies[count] = other.inputs
    return np.array(_scores(question, copies))


@torch.no_grad()
def _blocks(model: Loaded, question: Question, inputs: Tensor) -> dict[str, Tensor]:
    """Return the outputs (place, width) of all blocks that read the units, by name, for these input vectors."""
    network = model.task.get_submodule("model")
    with recorded_calls(network) as outermost:
        question.log_probability(inputs[None])
    least = len(question.names) if question.keys is None else max(question.keys) + 1
    found: dict[str, Tensor] = {}
    for call in (call for outer in outermost for call in outer):
        output = call.output
        if _BLOCK.fullmatch(call.name) and output is not None and output.dim() == 3 and output.shape[1] >= least:
            found.setdefault(call.name, output[0])
    return found
