"""Frames of sound to labels by a transducer (Graves 2012): each frame writes any number of labels, then a blank."""

from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.masks import real_places
from regard.attention.watch import afford, is_watched, note
from regard.base.pauses import between_steps
from regard.models.bounds import WIDEST
from regard.models.ctc.head import NOT_WEIGHTS
from regard.models.ctc.network import RecogniserOptions, count_looking, frame_reader, read_frames
from regard.models.parts import Embedding, count_matrix_weights
from regard.models.transcriber import Counts, Labels, LearntLabels, Span, stack_frames
from regard.models.transducer.lattice import Lattice, best_frames, log_likelihood, steps_of
from regard.models.transducer.network import HeardFrames, PredictionOptions, TransducerNetwork, Written
from regard.models.transducer.prefixes import TransducerPrefixes, empty_prefixes, write_labels


class SoundTransducerOptions(PredictionOptions, RecogniserOptions):
    """A network over frames, and prediction and joint networks that write along them."""

    bidirectional: bool = Field(
        default=True,
        description="Read sounds in both directions with recurrent layers; if false, labels can be written while a "
        "sound is heard.",
    )
    embedding: int = Field(default=64, ge=1, le=WIDEST, description="Width of the label embeddings.")
    per_frame: int = Field(default=4, ge=1, le=64, description="Most labels that a search writes per stacked frame.")

    @property
    def hears_both_ways(self) -> bool:
        """True if recurrent layers read frames in both directions."""
        return self.bidirectional

    @model_validator(mode="after")
    def _check_direction(self) -> "SoundTransducerOptions":
        if self.encoder == "transformer" and not self.bidirectional:
            raise ValueError("bidirectional = false needs encoder = 'recurrent'; attention here reads whole sounds")
        return self


class WritingShares(nn.Module):
    """Looks from the frames at the labels: the probability that each is written there and, last, of waiting.

    This attention is not learnt: it follows from the network's emissions and the labels.
    """

    looks_from, looks_at = "source", "labels"
    not_edited = NOT_WEIGHTS

    def forward(self, lattice: Lattice) -> None:
        """Note the weights (row, frame, label + 1); if a frame writes several labels, they share it."""
        if not is_watched(self):
            return
        rows, frames, places = lattice.writes.shape
        afford(self, (rows, 1, frames, places), lattice.writes.element_size())
        writes = steps_of(lattice).writes[..., :-1]
        written = writes.sum(-1, keepdim=True)
        weights = torch.cat([writes / written.clamp(min=1), (1 - written).clamp(min=0)], dim=-1)
        weights = weights * real_places(lattice.counts, frames)[..., None]
        note(self, self.looks_from, self.looks_at, weights[:, None])


class SoundTransducer(TransducerNetwork):
    """Network from frames of `features` numbers to `symbols` labels."""

    NEEDS_FRAMES: ClassVar[bool] = False  # a frame may have any number of labels
    SEARCHED_BY: ClassVar[Literal["frames", "labels"]] = "labels"

    def __init__(self, options: SoundTransducerOptions, features: int, symbols: int) -> None:
        super().__init__()
        self.options, self.features, self.end = options, features, symbols
        self.dropout = nn.Dropout(options.dropout)
        self.reader = frame_reader(options, features, options.bidirectional)
        self.target_embedding = Embedding(symbols, options.embedding, pad=None)
        self.add_writer(options, options.dropout, options.width, symbols)
        self.shares = WritingShares()

    @property
    def dtype(self) -> torch.dtype:
        return self.joint.out.weight.dtype

    # The interface of a transcriber

    def hear(self, frames: Float[Tensor, "batch time feature"], lengths: Counts) -> HeardFrames:
        """Encode each stacked frame."""
        stacked, counts = stack_frames(frames, lengths, self.options.stack)
        return HeardFrames(self.joint.heard(self.dropout(read_frames(self.reader, stacked, counts))), counts)

    def learn(
        self, heard: HeardFrames, labels: Labels, counts: Counts, carry: dict[str, Tensor] | None
    ) -> LearntLabels:
        """Return −Σ log p(l | x) over the rows."""
        lattice = self.lattice(heard, labels, counts)
        return LearntLabels(-log_likelihood(lattice).sum().to(lattice.waits.dtype), {}, None)

    def best(self, heard: HeardFrames) -> list[list[int]]:
        """Return the labels of greedy search: at each frame the most probable symbol, until that is the blank."""
        return self.write_greedily(heard, self.nothing_written(heard))[0]

    def write_greedily(self, heard: HeardFrames, written: Written) -> tuple[list[list[int]], Written]:
        """Return the labels that greedy search writes at these frames, and the state after all labels so far."""
        frame, labels_here = torch.zeros_like(heard.counts), torch.zeros_like(heard.counts)
        row, symbols = torch.arange(len(frame), device=frame.device), list[Tensor]()
        while bool((frame < heard.counts).any()):
            between_steps()
            is_busy = frame < heard.counts
            state = heard.frames[row, frame.clamp(max=heard.frames.shape[1] - 1)]
            best = self.joint(state, written.state).argmax(-1)
            writes = is_busy & (best != self.blank) & (labels_here < self.options.per_frame)
            written = self.read_label(best, written, writes)
            symbols.append(best.masked_fill(~writes, self.blank))
            frame = frame + (is_busy & ~writes)
            labels_here = (labels_here + 1) * writes
        rows = torch.stack(symbols, dim=1).tolist() if symbols else [[]] * len(row)
        return [[symbol for symbol in row_symbols if symbol != self.blank] for row_symbols in rows], written

    def score(self, heard: HeardFrames, labels: Labels, counts: Counts) -> Float[Tensor, " batch"]:
        """Return log p(l | x), over all alignments."""
        return log_likelihood(self.lattice(heard, labels, counts))

    def align(self, heard: HeardFrames, labels: Labels, counts: Counts) -> list[list[Span]]:
        """Return the frame of each label on the most probable alignment; watchers see all alignments."""
        lattice = self.lattice(heard, labels, counts)
        self.shares(lattice)
        rows = zip(best_frames(lattice).tolist(), counts.tolist(), strict=True)
        return [[(frame, frame + 1) for frame in row[:count]] for row, count in rows]

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a row of `length` frames, with at most one label per stacked frame."""
        steps = -(-length // self.options.stack)
        reading = count_matrix_weights(self.reader, self.joint.heard)
        return steps * (reading + 2 * self.writing_weights()) + count_looking(self, steps)

    # The interface of a search label by label

    def begin(self, heard: HeardFrames) -> TransducerPrefixes:
        """Return the prefixes before anything is written."""
        return empty_prefixes(self, heard)

    def step(
        self, tokens: Int[Tensor, " row"], heard: HeardFrames, past: TransducerPrefixes
    ) -> tuple[Float[Tensor, "row token"], TransducerPrefixes]:
        """Return log p of every label, and of the end, after these tokens, and the extended prefixes."""
        continuations, past = write_labels(self, heard, past, tokens)
        return continuations.distribution, past

    def most_tokens(self, heard: HeardFrames) -> Counts:
        """Return the most labels a search may write for each row, plus the end."""
        return self.options.per_frame * heard.counts + 1
