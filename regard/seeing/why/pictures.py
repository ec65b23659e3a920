"""Questions to models that see pictures: which blocks of pixels made it give this class, which cells this word?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.loading import Loaded
from regard.models.captions.encoder import PatchPictureEncoder, VideoEncoder
from regard.models.patches import PatchOptions, PatchTransformer
from regard.seeing.gazes import search_caption, see_answer, see_written_caption
from regard.seeing.why.decision import (
    Question,
    chosen_class,
    chosen_places,
    name_chosen,
    name_of_file,
    refuse_place,
    units_left,
)
from regard.seeing.why.texts import words_of_text
from regard.viewing.sides import Cells, Video

HOLE = "Without a block the picture has a hole, which convolutions and glimpses cannot read; use occlusion."
MOVING = "The motion of a video is read across its frames, so none can be left out; use occlusion."
PLACED = "The heads look by place on the whole grid, so no patch can be left out; use occlusion."
BLOCKS = 14  # blocks along the longer side of a picture without a grid of its own


@dataclass(frozen=True)
class Blocks:
    """A grid of equal blocks over pictures (height, width, colour); the last ones may reach beyond the edge.

    Blocks are squares of `side` pixels, or by default as small as the grid allows.
    """

    height: int
    width: int
    grid: tuple[int, int]
    side: int | None = None

    @property
    def sides(self) -> tuple[int, int]:
        """Height and width of a block."""
        if self.side is not None:
            return self.side, self.side
        return -(-self.height // self.grid[0]), -(-self.width // self.grid[1])

    @property
    def names(self) -> list[str]:
        """Names of the blocks, by row and column from 1."""
        return [f"{row + 1},{column + 1}" for row in range(self.grid[0]) for column in range(self.grid[1])]

    def cut(self, pictures: Tensor) -> Tensor:
        """Return pictures (copy, height, width, colour) as blocks (copy, block, number)."""
        (down, across), (rows, columns) = self.sides, self.grid
        edges = (0, 0, 0, across * columns - self.width, 0, down * rows - self.height)
        padded = F.pad(pictures, edges)
        split = padded.unflatten(2, (columns, across)).unflatten(1, (rows, down))
        return split.permute(0, 1, 3, 2, 4, 5).flatten(3).flatten(1, 2)

    def join(self, blocks: Tensor) -> Tensor:
        """Return blocks as pictures; the inverse of `cut`."""
        (down, across), (rows, columns) = self.sides, self.grid
        split = blocks.unflatten(1, (rows, columns)).unflatten(3, (down, across, -1)).permute(0, 1, 3, 2, 4, 5)
        return (
            split.flatten(3, 4)
            .flatten(1, 2)[:, : self.height, : self.width]
            .reshape(len(blocks), self.height, self.width, -1)
        )


def ask_picture(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a picture gets its class; units are patches, or blocks of pixels."""
    task, network = model.task, model.task.model
    refuse_place(place, word, "one class for a picture")
    pixels = task.read([item]).pixels(network.dtype)[..., None]
    height, width = pixels.shape[1:3]
    side = -(-max(height, width) // BLOCKS) if network.grid is None else network.patch
    blocks = Blocks(height, width, (-(-height // side), -(-width // side)), side)
    with torch.no_grad():
        best = int(network.answer(pixels[..., 0])[0].argmax())
    number = chosen_class(task.labels.classes, output, best)
    edges = [
        (0, count * size - length)
        for count, size, length in zip(blocks.grid, blocks.sides, (height, width), strict=True)
    ]
    shown = np.pad(pixels[0, ..., 0].float().cpu().numpy(), edges)  # so that every block is drawn whole

    def log_probability(vectors: Tensor) -> Tensor:
        return network.answer(blocks.join(vectors)[..., 0])[:, number]

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        return float(network.answer(pixels[..., 0], units_left(units, len(blocks.names)))[0, number])

    inseparable = _refusal(network.options) if isinstance(network, PatchTransformer) else HOLE
    name = task.labels.classes[number]
    return Question(
        blocks.names,
        name,
        blocks.cut(pixels)[0],
        blocks.cut(_background(pixels))[0],
        log_probability,
        None if inseparable else without,
        Cells(shown, blocks.grid),
        name_of_file(item, "The picture"),
        name,
        partial(see_answer, task, item) if network.grid is not None else None,
        inseparable=inseparable,
    )


def ask_captioner(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a caption has a word; units are the cells of the picture, or the frames of a video."""
    task = model.task
    batch = task.read([item])
    written = list(search_caption(task, batch)) if output is None else task.tokeniser.encode(output)
    batch = batch.writing([written])
    sides = task.sides(batch, [written])
    target = words_of_text(sides["target"])
    places = chosen_places(target, place, word)
    step = 1.0 if batch.features.is_floating_point() else task.reader.format.step
    features = batch.features.to(task.model.dtype) * step
    names, cut, join = _units(task, features)

    def log_probability(vectors: Tensor) -> Tensor:
        copies = len(vectors)
        tokens = batch.tokens.expand(copies, -1)
        rows = replace(batch, features=join(vectors), tokens=tokens, names=batch.names * copies, pictures=())
        return task.token_scores(rows)[:, places].sum(1)

    @torch.no_grad()
    def without(units: Sequence[int]) -> float:
        seen_in_unit = math.prod(task.grid) // len(names)  # places that a frame has
        kept = [unit * seen_in_unit + seen for unit in units_left(units, len(names)) for seen in range(seen_in_unit)]
        return float(task.token_scores(batch, kept)[:, places].sum(1))

    inseparable = _refusal_of_encoder(task.encoder)
    is_pixels = task.encoder is not None
    baseline = _background(features[:, None]).squeeze(1) if is_pixels else features.mean(1, keepdim=True)
    return Question(
        names,
        name_chosen(target, places, word),
        cut(features)[0],
        cut(baseline.expand_as(features))[0],
        log_probability,
        None if inseparable else without,
        _side(sides["source"]),
        batch.names[0],
        task.write(written),
        partial(see_written_caption, task, item, written),
        places,
        choices=target,
        explained=places,
        inseparable=inseparable,
    )


def _refusal(options: PatchOptions) -> str:
    """Return the reason why no patch can be left out, if there is one."""
    return PLACED if options.heads_look_by == "place" else ""


def _refusal_of_encoder(encoder: Any) -> str:
    """Return the reason why no cell or frame that an encoder reads can be left out, if there is one."""
    if isinstance(encoder, PatchPictureEncoder):
        return _refusal(encoder.encoder.options)
    if isinstance(encoder, VideoEncoder):
        return "" if encoder.motion_convolutions is None else MOVING
    return "" if encoder is None else HOLE


def _units(task: Any, features: Tensor) -> tuple[Sequence[str], Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """Return the names of a picture's units, and the functions from its features (copy, place, depth) and back."""
    shape = task.reader.format
    if shape.frames is not None:
        names = [f"frame {number + 1}" for number in range(shape.frames)]
        places = features.shape[1] // shape.frames

        def cut(features: Tensor) -> Tensor:
            return features.unflatten(1, (shape.frames, places)).flatten(2)

        return names, cut, lambda units: units.unflatten(2, (places, -1)).flatten(1, 2)
    rows, columns = task.grid
    blocks = Blocks(shape.rows, shape.columns, (rows, columns), getattr(task.encoder, "patch", None))
    return (
        blocks.names,
        lambda features: blocks.cut(features.unflatten(1, (shape.rows, shape.columns))),
        lambda units: blocks.join(units).flatten(1, 2),
    )


def _side(side: Any) -> Cells | Video:
    assert isinstance(side, Cells | Video)
    return side


def _background(pictures: Tensor) -> Tensor:
    """Return pictures (copy, height, width, colour) of one colour: the median of their own pixels."""
    flat = pictures.flatten(1, 2)
    return flat.median(dim=1, keepdim=True).values[:, None].expand_as(pictures).clone()
