"""Networks that give each frame a distribution over labels and a blank, by recurrent layers or attention.

Both read frames of features of any kind: bands of a sound, columns of a picture, points of a stroke.
"""

from typing import ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Lengths
from regard.attention.heads import MultiHead
from regard.attention.watch import afford, is_watched, note
from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.cell_names import CellName
from regard.models.ctc.head import NOT_WEIGHTS, ctc_loss
from regard.models.ctc.paths import best_alignment, best_path, log_likelihood, occupancy
from regard.models.parts import count_matrix_weights
from regard.models.recurrent.layers import Stack
from regard.models.transcriber import Counts, Labels, LearntLabels, Span, stack_frames
from regard.models.transformer.network import EncoderBlock, places_of
from regard.models.transformer.options import TransformerOptions

OF_TRANSFORMERS = ("heads", "feed_forward", "positions")
OF_RECURRENT = ("cell",)


class RecogniserOptions(Options):
    """A network over frames: how many are stacked into one, and what reads them."""

    encoder: Literal["recurrent", "transformer"] = Field(
        "recurrent", description="Frame encoder: bidirectional recurrent layers, or attention."
    )
    stack: int = Field(3, ge=1, le=64, description="Frames stacked into one, to have fewer steps.")
    width: int = Field(256, ge=2, le=WIDEST, description="Width of the states, both directions together.")
    layers: int = Field(2, ge=1, le=MOST_LAYERS, description="Number of layers or blocks.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Dropout on inputs, between layers and on the last states.")
    cell: CellName = Field("lstm", description="Cell of recurrent layers.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each block of a transformer.")
    feed_forward: int = Field(
        512, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets of a transformer."
    )
    positions: Literal["sinusoidal", "rotary", "alibi", "none"] = Field(
        "rotary", description="Position encoding of a transformer's frames."
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return OF_TRANSFORMERS if self.encoder == "recurrent" else OF_RECURRENT

    @property
    def hears_both_ways(self) -> bool:
        """True if recurrent layers read frames in both directions."""
        return True

    @model_validator(mode="after")
    def _check(self) -> "RecogniserOptions":
        for name in self.idle:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} would do nothing with encoder = '{self.encoder}'")
        if self.encoder == "recurrent" and self.hears_both_ways and self.width % 2:
            raise ValueError(f"width is {self.width}, but two directions need an even width")
        if self.encoder == "transformer":
            self.of_blocks()
        return self

    def of_blocks(self) -> TransformerOptions:
        """Return the options of a Transformer; only its encoder is built."""
        return TransformerOptions(
            encoder_layers=self.layers,
            decoder_layers=1,
            width=self.width,
            feed_forward=self.feed_forward,
            heads=self.heads,
            dropout=self.dropout,
            norm="before",
            positions=self.positions,
            longest=LONGEST,
        )


class Occupancy(nn.Module):
    """Looks from the frames at the written labels: γ_t of each label, and of all blanks together.

    This attention is not learnt: it follows from the network's emissions and the labels. Like an attention, it gives
    each frame weights that sum to one.
    """

    looks_from, looks_at = "source", "labels"
    not_edited = NOT_WEIGHTS

    def forward(
        self, frames: Float[Tensor, "batch frame symbol"], counts: Counts, labels: Labels, label_counts: Counts
    ) -> Float[Tensor, "batch frame place"]:
        """Return the weights (batch, frame, label + 1), blanks last."""
        if is_watched(self):
            afford(self, (len(frames), 1, frames.shape[1], 2 * labels.shape[1] + 1), frames.element_size())
        shares = occupancy(frames, counts, labels, label_counts)
        weights = torch.cat([shares[..., 1::2], shares[..., ::2].sum(-1, keepdim=True)], dim=-1)
        note(self, self.looks_from, self.looks_at, weights[:, None])
        return weights


class Emissions(NamedTuple):
    """Log-probabilities of each stacked frame, and the number of frames in each row."""

    frames: Float[Tensor, "batch frame symbol"]
    counts: Counts


class Recogniser(nn.Module):
    """Network from frames of `features` numbers to log-probabilities of `symbols` labels and, last, the blank."""

    NEEDS_FRAMES: ClassVar[bool] = True
    SEARCHED_BY: ClassVar[Literal["frames", "labels"]] = "frames"

    def __init__(self, options: RecogniserOptions, features: int, symbols: int) -> None:
        super().__init__()
        self.options, self.features, self.blank = options, features, symbols
        self.dropout = nn.Dropout(options.dropout)
        self.reader = frame_reader(options, features)
        self.out = nn.Linear(options.width, symbols + 1)
        self.occupancy = Occupancy()

    @property
    def dtype(self) -> torch.dtype:
        return self.out.weight.dtype

    def forward(
        self, frames: Float[Tensor, "batch time feature"], lengths: Counts
    ) -> tuple[Float[Tensor, "batch frame symbol"], Counts]:
        """Return the log-probabilities of each stacked frame, and the number of frames in each row."""
        stacked, counts = stack_frames(frames, lengths, self.options.stack)
        logits = self.out(self.dropout(read_frames(self.reader, stacked, counts)))
        return logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32)), counts

    # The interface of a transcriber

    def hear(self, frames: Float[Tensor, "batch time feature"], lengths: Counts) -> Emissions:
        return Emissions(*self(frames, lengths))

    def learn(self, heard: Emissions, labels: Labels, counts: Counts, carry: dict[str, Tensor] | None) -> LearntLabels:
        """Return −Σ log p(l | x) over the rows, by torch's sum over paths."""
        return LearntLabels(ctc_loss(*heard, labels, counts), {}, None)

    def best(self, heard: Emissions) -> list[list[int]]:
        return best_path(*heard)

    def score(self, heard: Emissions, labels: Labels, counts: Counts) -> Float[Tensor, " batch"]:
        """Return log p(l | x), over all alignments."""
        return log_likelihood(*heard, labels, counts)

    def align(self, heard: Emissions, labels: Labels, counts: Counts) -> list[list[Span]]:
        """Return where labels lie along the most probable path; watchers see γ, each label's probability per frame."""
        self.occupancy(*heard, labels, counts)
        states, _ = best_alignment(*heard, labels, counts)
        return [_spans(row, count) for row, count in zip(states.tolist(), counts.tolist(), strict=True)]

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a row of `length` frames."""
        steps = -(-length // self.options.stack)
        return steps * count_matrix_weights(self) + count_looking(self, steps)


def count_looking(network: nn.Module, steps: int) -> int:
    """Return the multiplications of a network's attentions for `steps` steps."""
    return sum(part.multiplications(steps) for part in network.modules() if isinstance(part, MultiHead))


def frame_reader(options: RecogniserOptions, features: int, bidirectional: bool = True) -> "Stack | FrameBlocks":
    """Build the layers that read stacked frames of `features` features."""
    depth = features * options.stack
    if options.encoder == "transformer":
        return FrameBlocks(options, depth)
    return Stack(
        options.cell,
        depth,
        options.width,
        options.layers,
        dropout=options.dropout,
        bidirectional=bidirectional,
    )


def read_frames(
    reader: "Stack | FrameBlocks", frames: Float[Tensor, "batch frame depth"], counts: Counts
) -> Float[Tensor, "batch frame width"]:
    """Return the states of stacked frames, of which `counts` are real in each row."""
    return reader.read(frames, counts)[0] if isinstance(reader, Stack) else reader(frames, counts)


class FrameBlocks(nn.Module):
    """The encoder of a Transformer over frames (Vaswani et al. 2017, section 3.1), with the norm before sublayers."""

    def __init__(self, options: RecogniserOptions, depth: int) -> None:
        super().__init__()
        of_blocks = options.of_blocks()
        self.enter = nn.Linear(depth, options.width)
        self.places, self.dropout = places_of(of_blocks), nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(of_blocks) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)

    def forward(
        self, frames: Float[Tensor, "batch frame depth"], lengths: Counts
    ) -> Float[Tensor, "batch frame width"]:
        states = self.dropout(self.places(self.enter(frames)))
        for block in self.blocks:
            states = block(states, Lengths(lengths))
        return self.norm(states)


def _spans(states: list[int], labels: int) -> list[Span]:
    """Return the first and last frame of each label, where label n is state 2n + 1."""
    return [(states.index(state), len(states) - states[::-1].index(state)) for state in range(1, 2 * labels, 2)]
