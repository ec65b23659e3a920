"""Text to labels without a decoder: an encoder over tokens, several frames of each, and CTC (Graves et al. 2006).

    p(l | x) = Σ over paths π with B(π) = l of Π_t y^t_{π_t}

All labels are found at once, each from what the encoder knows of its place, and none knows the labels before it.
Departure: the paper reads sound, of which there is more than of labels; here the head makes several frames of a token,
for a letter may stand for two sounds.
"""

from typing import ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import is_watched
from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.cell_names import CellName
from regard.models.ctc.head import Alignment, CTCHead
from regard.models.ctc.prefixes import Prefixes, empty_prefixes, extend, next_labels, next_starts
from regard.models.parts import Embedding
from regard.models.recurrent.layers import Stack
from regard.models.transformer.block_encoder import BlockEncoder
from regard.models.transformer.encoder_blocks import block_options
from regard.models.transformer.options import TransformerOptions
from regard.models.translator import Translator

ONLY = {"recurrent": ("cell",), "transformer": ("heads", "feed_forward")}  # options that one encoder alone has


class CTCTextOptions(Options):
    """An encoder of text, and the frames that CTC makes of it."""

    encoder: Literal["recurrent", "transformer"] = Field(
        default="recurrent", description="Recurrent layers that read from both ends, or blocks of a Transformer."
    )
    layers: int = Field(default=3, ge=1, le=MOST_LAYERS, description="Layers or blocks of the encoder.")
    width: int = Field(default=512, ge=2, le=WIDEST, description="Width of the embeddings and the states.")
    cell: CellName = Field(default="lstm", description="The cell of a recurrent encoder.")
    heads: int = Field(default=4, ge=1, le=WIDEST, description="Attention heads of each block of a Transformer.")
    feed_forward: int = Field(
        default=1024, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets of a Transformer."
    )
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, layers and sublayers.")
    frames: int = Field(
        default=2, ge=1, le=16, description="Frames of each token; an output has at most one token a frame."
    )
    longest: int = Field(default=1024, ge=1, le=LONGEST, description="The longest input or output in tokens.")

    @property
    def idle(self) -> tuple[str, ...]:
        return ONLY[self._other_encoder]

    @property
    def _other_encoder(self) -> str:
        return "transformer" if self.encoder == "recurrent" else "recurrent"

    @model_validator(mode="after")
    def _check(self) -> "CTCTextOptions":
        for name in self.idle:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for encoder = '{self._other_encoder}', not '{self.encoder}'")
        if self.encoder == "transformer":
            self.of_blocks()
        elif self.width % 2:
            raise ValueError(f"width {self.width} is odd, but two directions share it")
        return self

    def of_blocks(self) -> TransformerOptions:
        """The options of its blocks, which are those of a Transformer."""
        return block_options(self, norm="before")

    @property
    def ample_tokens(self) -> int:
        """Larger batches than this fit a large GPU and teach the model no faster."""
        return 8192

    @property
    def adjustable(self) -> frozenset[str]:
        """What may be another for the same weights: nothing that they, or what they give, depend on."""
        return frozenset({"dropout", "longest"})


class FrameMemory(NamedTuple):
    """What was read: log y^t for all tokens and, behind them, the blank; only blanks behind the real frames."""

    frames: Float[Tensor, "batch frame symbol"]
    lengths: Int[Tensor, " batch"]  # of the sources


class CTCText(Translator):
    """Tokens in, frames out; what a batch is, and how outputs are found in the frames, is the task's affair."""

    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "embeddings": ("source_embedding",),
        "encoder": ("encoder",),
        "decoder": ("ctc_head",),
    }
    writes_frames = True

    def __init__(self, options: CTCTextOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int) -> None:
        super().__init__()
        self.options = options
        self.source_embedding = Embedding(source_tokens, options.width, pad)
        self.dropout = nn.Dropout(options.dropout)
        self.encoder = (
            _Recurrent(options)
            if options.encoder == "recurrent"
            else BlockEncoder(options.of_blocks(), options.dropout)
        )
        self.ctc_head = CTCHead(options.width, target_tokens, options.frames)
        self.alignment = Alignment()

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> FrameMemory:
        """The frames of each source."""
        lengths = lengths.to(source.device, non_blocking=True)  # batches leave them on the host
        return FrameMemory(self.ctc_head(self.dropout(self.layers(source, lengths)[-1]), lengths), lengths)

    def begin(self, memory: FrameMemory) -> Prefixes:
        """Nothing has been written yet."""
        return empty_prefixes(memory.frames)

    def write(
        self, target: Int[Tensor, "row target"], memory: FrameMemory, past: Prefixes
    ) -> tuple[Float[Tensor, "row target symbol"], Prefixes]:
        """The log-probabilities of what follows each label, the end behind all tokens, and what is then written.

        A blank among the labels writes nothing, as in a frame.
        """
        copies = len(target) // len(memory.lengths)  # the rows of a beam share what was read
        frames, lengths = (each.repeat_interleave(copies, 0) for each in memory)
        following, starts = [], []
        for labels in target.unbind(1):
            past = extend(frames, past, labels)
            tokens, end = next_labels(frames, past)
            following.append(torch.cat([tokens, end[:, None]], dim=1))
            if is_watched():
                starts.append(next_starts(frames, past))
        if starts:
            self.alignment(starts, lengths, self.options.frames)
        return torch.stack(following, dim=1), past

    def embeddings(self) -> dict[str, Embedding]:
        return {"source": self.source_embedding}

    @property
    def blank(self) -> int:
        """The symbol of a frame that says nothing, behind those of all tokens."""
        return self.ctc_head.symbols - 1

    def token_weights(self) -> Float[Tensor, "symbol width"]:
        """What a state of the encoder is multiplied with to score every symbol of its frames."""
        return self.ctc_head.out.weight

    def token_biases(self) -> Float[Tensor, " symbol"]:
        """What is then added to the scores."""
        return self.ctc_head.out.bias

    def logits(self, states: Float[Tensor, "*place symbol"]) -> Float[Tensor, "*place symbol"]:
        """What is written from is made of log-probabilities already."""
        return states

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """What is known of each source token: its embedding, then the states of every layer (batch, source, width)."""
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder(embedded, lengths)]

    def cost(self, length: int) -> dict[str, int | float]:
        """What reading `length` tokens takes: multiplications, and the weights of all attentions."""
        matrices = sum(p.numel() for name, p in self.named_parameters() if p.dim() == 2 and "embedding" not in name)
        blocks = self.options.layers if self.options.encoder == "transformer" else 0
        looking = 2 * blocks * length**2 * self.options.width
        total = length * matrices + looking
        weights = blocks * self.options.heads * length**2
        return {"multiplications": total, "attention_share": looking / total, "weights": weights}


class _Recurrent(nn.Module):
    def __init__(self, options: CTCTextOptions) -> None:
        super().__init__()
        self.dropout = nn.Dropout(options.dropout)
        self.stack = Stack(
            options.cell, options.width, options.width, options.layers, dropout=options.dropout, bidirectional=True
        )

    def forward(self, embedded: Tensor, lengths: Tensor) -> list[Float[Tensor, "batch source width"]]:
        return self.stack.read_layers(self.dropout(embedded), lengths)
