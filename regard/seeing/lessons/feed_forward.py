"""The feed-forward net as a database: FFN(x) = Σ activation(keyᵤ · x + bᵤ) · valueᵤ + b₂.

The rows of W₁ are keys, which switch a unit on; the columns of W₂ are values, which each unit adds to the state. A
value can be read by its products with the output matrix: the tokens whose logits it raises (Geva et al. 2021,
"Transformer Feed-Forward Layers Are Key-Value Memories"). The norm before the output matrix is left out.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.parts import FeedForward
from regard.protocols import Follows
from regard.seeing.lessons.token_matrices import TokenMatrices, token_matrices
from regard.seeing.sentences import see
from regard.tasks.masked.task import MaskedTokens
from regard.tasks.translation.task import Translation
from regard.viewing.sides import Words
from regard.viewing.tables import NumberTable, TableLesson, WordTable

TITLE = "The feed-forward net as a database"
WORDS = ["France", "Italy", "Paris", "Rome"]  # each has its own coordinate
KEYS = np.array([[2.0, 0, 0, 0], [0, 2, 0, 0], [1, 1, 0, 0]])  # a row for each unit
BIASES = np.array([-1.0, -1, -0.5])
VALUES = np.array([[0.0, 0, 0], [0, 0, 0], [3, 0, 1], [0, 3, 1]])  # a column for each unit

_BLOCKS = {"source": "encoder block", "target": "decoder block", "text": "block"}  # names by what a block reads


@dataclass(frozen=True)
class Chosen:
    """Number of units to show, or the one to show, and the number of tokens of each."""

    count: int = 8
    unit: int | None = None  # counted from 1
    tokens: int = 5


@dataclass(frozen=True)
class Block:
    """A feed-forward net of a network and its name; `side` names the texts it reads."""

    name: str
    side: str
    net: FeedForward


def feed_forward_example() -> TableLesson:
    """Return four words, three units and what they look up, to check by hand."""
    units = [f"unit {number}" for number in range(1, len(KEYS) + 1)]
    activations = np.maximum(np.eye(len(WORDS)) @ KEYS.T + BIASES, 0)
    logits = activations @ VALUES.T
    on_caption = "France: relu(2·1 − 1) = 1 switches unit 1 on; unit 3 is on for both countries."
    out_caption = "France: 1 · 3 + 0.5 · 1 = 3.5 for Paris, 0.5 · 1 = 0.5 for Rome."
    tables = [
        NumberTable(
            "W₁: a key in each row, and its bias",
            units,
            [*WORDS, "bias"],
            np.column_stack([KEYS, BIASES]),
            "Each word is the one-hot vector of its own coordinate.",
            digits=1,
        ),
        NumberTable("Activations: relu(key · x + bias)", WORDS, units, activations, on_caption, digits=1),
        NumberTable(
            "W₂: a value in each column",
            WORDS,
            units,
            VALUES,
            "Unit 1 promotes Paris, unit 2 Rome, unit 3 both.",
            digits=1,
        ),
        NumberTable("Output: Σ activation · value", WORDS, WORDS, logits, out_caption, digits=1),
    ]
    return TableLesson(TITLE, tables)


@torch.no_grad()
def feed_forward_lesson(model: Any, texts: Sequence[str], layer: int | None, chosen: Chosen) -> TableLesson:
    """Return the units of one block with the tokens that switch them on and the tokens that they promote."""
    matrices = token_matrices(model)
    block = _block(model, layer)
    width = block.net.outer.out_features
    if matrices.output.shape[1] != width:
        raise Fault(f"The states are {width} wide but the output matrix {matrices.output.shape[1]}; none fits a value.")
    tokens, activations = read_activations(model, texts, block)
    units = _units(activations, chosen)
    rows = []
    for unit in units:
        on = _in_words(strongest(tokens, activations[:, unit], chosen.tokens))
        rows.append([str(unit + 1), on, _in_words(promoted(matrices, block.net, unit, chosen.tokens))])
    count = f"{len(texts)} text{'s' if len(texts) > 1 else ''}, {len(tokens)} tokens"
    caption = (
        "Switched on by: the largest activations among the tokens read. Promotes: the largest products of the unit's "
        "column of W₂ with the output matrix; the norm before that matrix is left out."
    )
    if block.side == "source":
        caption += " An encoder reaches that matrix only through the decoder, so what its units promote is a hint."
    columns = ["unit", "switched on by", "promotes"]
    table = WordTable(f"{block.name}, {len(units)} of {activations.shape[1]} units, {count}", columns, rows, caption)
    tables: list[NumberTable | WordTable] = [table]
    if len(texts) == 1:
        names = [str(unit + 1) for unit in units]
        tables.append(NumberTable("Activation at each token, by unit", tokens, names, activations[:, units]))
    return TableLesson(TITLE, tables)


def read_activations(model: Any, texts: Sequence[str], block: Block) -> tuple[list[str], np.ndarray]:
    """Return the tokens that a block reads in these texts, and the activation of each unit at each (token, unit)."""
    tokens, parts = list[str](), list[Tensor]()
    for text in texts:
        if not text.strip():
            raise Fault("There is no text to read; give a sentence with --text.")
        with _overheard(block.net) as calls:
            words = _read(model, text)[block.side]
        (states,) = calls[-1]  # a search before it may have called the block too
        if len(states) != len(words.tokens):
            raise Fault(f"The text has {len(words.tokens)} tokens, more than this model reads at once; shorten it.")
        tokens += words.tokens
        parts.append(block.net.activation(block.net.inner(states)))
    return tokens, torch.cat(parts).double().cpu().numpy()


def strongest(names: Sequence[str], values: np.ndarray, count: int) -> list[tuple[str, float]]:
    """Return the names with the largest positive values, each once."""
    best = dict[str, float]()
    for place in np.argsort(-values, kind="stable"):
        if values[place] > 0 and len(best) < count:
            best.setdefault(names[place], float(values[place]))
    return list(best.items())


def promoted(matrices: TokenMatrices, net: FeedForward, unit: int, count: int) -> list[tuple[str, float]]:
    """Return the tokens whose logits a unit raises most, and by how much at an activation of 1."""
    raised = matrices.output @ net.outer.weight[:, unit]
    top = raised.topk(min(count, len(raised)))
    pieces = matrices.output_tokeniser.pieces(top.indices.tolist())
    return list(zip(pieces, top.values.tolist(), strict=True))


def _in_words(pairs: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name.replace('▁', '␣')} {value:.2f}" for name, value in pairs) or "–"


def _units(activations: np.ndarray, chosen: Chosen) -> list[int]:
    """Return the units to show: the one asked for, or those with the largest activation anywhere."""
    if chosen.unit is None:
        return np.argsort(-activations.max(axis=0), kind="stable")[: chosen.count].tolist()
    if chosen.unit > activations.shape[1]:
        raise Fault(f"This block has {activations.shape[1]} units; there is no unit {chosen.unit}.")
    return [chosen.unit - 1]


def _block(model: Loaded, layer: int | None) -> Block:
    """Return the feed-forward net of this number, counted from 1 from the input on, by default the last."""
    blocks = []
    for name, part in model.named_modules():
        if isinstance(part, FeedForward):
            *groups, number, _ = name.split(".")
            side = ("target" if "decoder" in groups else "source") if isinstance(model.task, Translation) else "text"
            blocks.append(Block(f"{_BLOCKS[side]} {int(number) + 1}", side, part))
    if not blocks:
        raise Fault(f"This {model.recipe.family} has no feed-forward nets; give a Transformer, a GPT or a BERT.")
    if layer is not None and layer > len(blocks):
        names = ", ".join(f"{number} {block.name}" for number, block in enumerate(blocks, 1))
        raise Fault(f"There is no layer {layer}; this model has {names}.")
    return blocks[(layer or len(blocks)) - 1]


def _read(model: Any, text: str) -> dict[str, Words]:
    """Let the model read a text, and a translator write its best output; return the tokens that are read, by side."""
    task = model.task
    if isinstance(task, Translation):
        sides = see(model, text).sides
        source, target = sides["source"], sides["target"]
        assert isinstance(source, Words)
        assert isinstance(target, Words)
        return {"source": source, "target": target.as_read or target}
    if isinstance(task, MaskedTokens):
        batch = task.read([text])
        task.model.reader.read(batch.tensors.tokens, batch.lengths)
        words = task.sides(batch, [])["source"]
        assert isinstance(words, Words)
        return {"text": words}
    assert isinstance(task, Follows)
    return {"text": task.follow(text).places}


@contextmanager
def _overheard(net: nn.Module) -> Iterator[list[Tensor]]:
    """Record the inputs (batch, time, width) of a module inside this block."""
    calls = list[Tensor]()
    hook = net.register_forward_pre_hook(lambda _, arguments: calls.append(arguments[0].detach()))
    try:
        yield calls
    finally:
        hook.remove()
