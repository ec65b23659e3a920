"""Text to labels without a decoder: an encoder over tokens, several frames per token, and CTC (Graves et al. 2006).

    p(l | x) = Σ over paths π with B(π) = l of Π_t y^t_{π_t}

All labels are predicted at once, each from the encoder's state at its place, independently of the labels before it.
Departure: the paper reads sound, which has more frames than labels; here the head makes several frames of each token,
because a letter may stand for two sounds.
"""

from typing import ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.attention import is_watched
from regard.models.ctc.head import Alignment, CTCHead
from regard.models.ctc.prefixes import Prefixes, empty_prefixes, extend, next_labels, next_starts
from regard.models.ctc.text_encoder import TextEncoderOptions, encoder_cost, text_encoder
from regard.models.parts import Embedding
from regard.models.translator import Translator


class CTCTextOptions(TextEncoderOptions):
    """An encoder of text, and the CTC frames made from it."""

    frames: int = Field(
        default=2, ge=1, le=16, description="Frames per input token; an output has at most one token per frame."
    )


class FrameMemory(NamedTuple):
    """Encoded frames: log y^t for all tokens and the blank; only blanks after the real frames."""

    frames: Float[Tensor, "batch frame symbol"]
    lengths: Int[Tensor, " batch"]  # of the sources


class CTCText(Translator):
    """Network from tokens to frames; the task defines batches and finds outputs in the frames."""

    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "embeddings": ("source_embedding",),
        "encoder": ("encoder",),
        "decoder": ("ctc_head",),
    }
    finds_outputs_by: ClassVar[Literal["decoder", "ctc", "transducer"]] = "ctc"

    def __init__(self, options: CTCTextOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int) -> None:
        super().__init__()
        self.options = options
        self.source_embedding = Embedding(source_tokens, options.width, pad)
        self.dropout = nn.Dropout(options.dropout)
        self.encoder = text_encoder(options)
        self.ctc_head = CTCHead(options.width, target_tokens, options.frames)
        self.alignment = Alignment()

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> FrameMemory:
        """Return the frames of each source."""
        states = self.dropout(self.layers(source, lengths)[-1])
        lengths = lengths.to(source.device, non_blocking=True)  # batches keep lengths on the host
        return FrameMemory(self.ctc_head(states, lengths), lengths)

    def begin(self, memory: FrameMemory) -> Prefixes:
        """Return the empty prefixes, before anything is written."""
        return empty_prefixes(memory.frames)

    def write(
        self, target: Int[Tensor, "row target"], memory: FrameMemory, past: Prefixes
    ) -> tuple[Float[Tensor, "row target symbol"], Prefixes]:
        """Return the log-probabilities of what follows each label, the end last, and the extended prefixes.

        A blank among the labels writes nothing, as in a frame.
        """
        copies = len(target) // len(memory.lengths)  # the rows of a beam share what was read
        frames, lengths = (tensor.repeat_interleave(copies, 0) for tensor in memory)
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
        """The symbol of a frame that says nothing; it follows those of all tokens."""
        return self.ctc_head.symbols - 1

    def token_weights(self) -> Float[Tensor, "symbol width"]:
        """Return the output matrix, which scores every symbol of a frame."""
        return self.ctc_head.out.weight

    def token_biases(self) -> Float[Tensor, " symbol"]:
        """Return the bias of the output layer."""
        return self.ctc_head.out.bias

    def logits(self, states: Float[Tensor, "*place symbol"]) -> Float[Tensor, "*place symbol"]:
        """Return the states, which already are log-probabilities."""
        return states

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return the vectors of each source token: its embedding, then the states of every layer (batch, source,
        width).
        """
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder(embedded, lengths)]

    def cost(self, length: int) -> dict[str, int | float]:
        """Return the cost of reading `length` tokens: multiplications, and the weights of all attentions."""
        matrices = sum(p.numel() for name, p in self.named_parameters() if p.dim() == 2 and "embedding" not in name)
        return encoder_cost(self.options, matrices, length)
