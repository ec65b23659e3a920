"""Protocol of networks that transcribe frames, whatever their alignment of labels to frames."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.masks import real_places

Counts = Int[Tensor, " batch"]
Labels = Int[Tensor, "batch label"]
Labelling = Sequence[int]
Span = tuple[int, int]  # the first frame of a label, and the frame after its last


class LearntLabels(NamedTuple):
    """The loss summed over the rows, sums and counts of other figures, and the carry to the next batch."""

    loss: Float[Tensor, ""]
    shown: dict[str, tuple[Tensor, Tensor]]
    carry: dict[str, Tensor] | None


@runtime_checkable
class Transcriber(Protocol):
    """A network over frames that can learn labels, write them, and align them.

    `hear` encodes rows of frames, and everything else uses that encoding, which only the network itself interprets.
    Labels after the end of a row are padding. Watchers see where the labels lie when they are aligned.
    """

    NEEDS_FRAMES: ClassVar[bool]  # True if a row needs at least one frame per label
    SEARCHED_BY: ClassVar[Literal["frames", "labels"]]  # what beam search steps through
    options: Any  # with `stack`, the number of frames stacked into one

    @property
    def dtype(self) -> torch.dtype: ...
    def hear(self, frames: Float[Tensor, "batch time feature"], lengths: Counts) -> Any: ...
    def learn(self, heard: Any, labels: Labels, counts: Counts, carry: dict[str, Tensor] | None) -> LearntLabels: ...
    def best(self, heard: Any) -> list[list[int]]: ...
    def score(self, heard: Any, labels: Labels, counts: Counts) -> Float[Tensor, " batch"]: ...
    def align(self, heard: Any, labels: Labels, counts: Counts) -> list[list[Span]]: ...
    def multiplications(self, length: int) -> int: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...


@runtime_checkable
class LabelWriter(Protocol):
    """A transcriber whose labels can be searched for one by one; `end` is the number after those of the labels.

    `end` is also the token before the first label. `step` returns the scores of all labels and of the end as the next.
    """

    end: int

    def begin(self, heard: Any) -> Any: ...
    def step(self, tokens: Int[Tensor, " row"], heard: Any, past: Any) -> tuple[Float[Tensor, "row token"], Any]: ...
    def most_tokens(self, heard: Any) -> Counts: ...


def as_labels(rows: Sequence[Labelling], device: torch.device) -> tuple[Labels, Counts]:
    """Pad labellings to one table, and return the number of labels in each row."""
    counts = [len(row) for row in rows]
    table = [[*row, *[0] * (max(counts) - len(row))] for row in rows]
    labels = torch.tensor(table, dtype=torch.long, device=device).view(len(rows), max(counts))
    return labels, torch.tensor(counts, device=device)


def stack_frames(
    frames: Float[Tensor, "batch time feature"], lengths: Counts, per: int
) -> tuple[Float[Tensor, "batch frame depth"], Counts]:
    """Stack every `per` frames into one, and return the new counts; a last incomplete stack is padded with zeros."""
    real = real_places(lengths, frames.shape[1])
    padded = F.pad(frames * real[..., None], (0, 0, 0, -frames.shape[1] % per))
    return padded.unflatten(1, (-1, per)).flatten(2), count_stacked(lengths, per)


def count_stacked(lengths: Counts, per: int) -> Counts:
    """Return the number of frames after stacking."""
    return -(-lengths // per)
