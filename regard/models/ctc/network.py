"""Networks that give each frame of an input a distribution over labels and a blank, by recurrent layers or attention.

Both read frames of features, whatever those are of: bands of a sound, columns of a picture, points of a stroke.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Lengths
from regard.attention.heads import MultiHead
from regard.attention.watch import afford, is_watched, note
from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.ctc.paths import Counts, Labels, occupancy
from regard.models.recurrent.layers import Stack
from regard.models.transformer.network import EncoderBlock, TransformerOptions, places_of

OF_TRANSFORMERS = ("heads", "feed_forward", "positions")
OF_RECURRENT = ("cell",)


class RecogniserOptions(Options):
    """A network over frames: how many are read as one, and what reads them."""

    encoder: Literal["recurrent", "transformer"] = Field(
        "recurrent", description="What reads the frames: recurrent layers in both directions, or attention."
    )
    stack: int = Field(3, ge=1, le=64, description="Frames that are read side by side as one, to have fewer steps.")
    width: int = Field(256, ge=2, le=WIDEST, description="Width of the states, of both directions together.")
    layers: int = Field(2, ge=1, le=MOST_LAYERS, description="Layers or blocks, one above the other.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Dropout on inputs, between layers and on the last states.")
    cell: Literal["lstm", "gru", "vanilla"] = Field("lstm", description="The cell of recurrent layers.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each block of a transformer.")
    feed_forward: int = Field(
        512, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets of a transformer."
    )
    positions: Literal["sinusoidal", "rotary", "alibi", "none"] = Field(
        "rotary", description="How a frame of a transformer knows its place."
    )

    @model_validator(mode="after")
    def _check(self) -> "RecogniserOptions":
        others = OF_TRANSFORMERS if self.encoder == "recurrent" else OF_RECURRENT
        for name in others:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} would do nothing with encoder = '{self.encoder}'")
        if self.encoder == "recurrent" and self.width % 2:
            raise ValueError(f"width is {self.width}, but two directions need an even one")
        if self.encoder == "transformer":
            self.of_blocks()
        return self

    def of_blocks(self) -> TransformerOptions:
        """The same as the options of a Transformer, of which the decoder is not made."""
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
    """Looks from the frames at the labels that were written: γ_t of each label, and of all blanks together.

    It is no attention that the network learns: it follows from what the network emits and from what is written. As an
    attention does, it says for each frame where its weight lies, and sums to one.
    """

    looks_from, looks_at = "source", "labels"

    def forward(
        self, frames: Float[Tensor, "batch frame symbol"], counts: Counts, labels: Labels, label_counts: Counts
    ) -> Float[Tensor, "batch frame place"]:
        """The weights (batch, frame, label + 1), blanks last."""
        if is_watched(self):
            afford(self, (len(frames), 1, frames.shape[1], 2 * labels.shape[1] + 1), frames.element_size())
        shares = occupancy(frames, counts, labels, label_counts)
        weights = torch.cat([shares[..., 1::2], shares[..., ::2].sum(-1, keepdim=True)], dim=-1)
        note(self, self.looks_from, self.looks_at, weights[:, None])
        return weights


class Recogniser(nn.Module):
    """Frames of `features` numbers in, log-probabilities of `symbols` labels and, behind them, of the blank out."""

    def __init__(self, options: RecogniserOptions, features: int, symbols: int) -> None:
        super().__init__()
        self.options, self.features, self.blank = options, features, symbols
        self.dropout = nn.Dropout(options.dropout)
        depth = features * options.stack
        if options.encoder == "recurrent":
            self.reader: Stack | _Blocks = Stack(
                options.cell,
                depth,
                options.width,
                options.layers,
                dropout=options.dropout,
                bidirectional=True,
            )
        else:
            self.reader = _Blocks(options, depth)
        self.out = nn.Linear(options.width, symbols + 1)
        self.occupancy = Occupancy()

    @property
    def dtype(self) -> torch.dtype:
        return self.out.weight.dtype

    def forward(
        self, frames: Float[Tensor, "batch time feature"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch frame symbol"], Int[Tensor, " batch"]]:
        """Log-probabilities of each frame that is left after stacking, and how many of them each row has."""
        stacked, counts = self.stack(frames, lengths)
        reader = self.reader
        states = reader.read(stacked, counts)[0] if isinstance(reader, Stack) else reader(stacked, counts)
        logits = self.out(self.dropout(states))
        return logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32)), counts

    def stack(
        self, frames: Float[Tensor, "batch time feature"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch frame depth"], Int[Tensor, " batch"]]:
        """Every few frames side by side; where a row ends within some, the others are zero."""
        per = self.options.stack
        real = torch.arange(frames.shape[1], device=frames.device) < lengths[:, None]
        padded = F.pad(frames * real[..., None], (0, 0, 0, -frames.shape[1] % per))
        return padded.unflatten(1, (-1, per)).flatten(2), self.counts(lengths)

    def counts(self, lengths: Int[Tensor, " batch"]) -> Int[Tensor, " batch"]:
        """How many frames are left of so many."""
        return -(-lengths // self.options.stack)

    def multiplications(self, length: int) -> int:
        """How many a row of so many frames takes."""
        steps = -(-length // self.options.stack)
        matrices = sum(weight.numel() for weight in self.parameters() if weight.dim() > 1)
        looking = sum(part.multiplications(steps) for part in self.modules() if isinstance(part, MultiHead))
        return steps * matrices + looking


class _Blocks(nn.Module):
    """The encoder of a Transformer over frames (Vaswani et al. 2017, section 3.1), with the norm before sublayers."""

    def __init__(self, options: RecogniserOptions, depth: int) -> None:
        super().__init__()
        of_blocks = options.of_blocks()
        self.enter = nn.Linear(depth, options.width)
        self.places, self.dropout = places_of(of_blocks), nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(of_blocks) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)

    def forward(
        self, frames: Float[Tensor, "batch frame depth"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch frame width"]:
        states = self.dropout(self.places(self.enter(frames)))
        for block in self.blocks:
            states = block(states, Lengths(lengths))
        return self.norm(states)
