"""Text to labels by a transducer (Graves 2012): an encoder over tokens, and labels written along them.

As in CTC, the labels follow the order of the tokens, and the loss sums over all alignments; unlike CTC, each label
depends on those before it, and a token may have any number of labels, since a letter may stand for two sounds or none.
"""

from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import is_watched
from regard.models.ctc.head import Alignment
from regard.models.ctc.text_encoder import TextEncoderOptions, encoder_cost, text_encoder
from regard.models.parts import Embedding, count_matrix_weights
from regard.models.transducer.network import HeardFrames, PredictionOptions, TransducerNetwork
from regard.models.transducer.prefixes import TransducerPrefixes, empty_prefixes, write_labels
from regard.models.translator import Translator


class TextTransducerOptions(PredictionOptions, TextEncoderOptions):
    """An encoder of text, and prediction and joint networks that write along it."""


class TextTransducer(TransducerNetwork, Translator):
    """Network from tokens to distributions over labels; the task defines batches and finds outputs."""

    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "embeddings": ("source_embedding", "target_embedding"),
        "encoder": ("encoder",),
        "decoder": ("predictor", "joint"),
    }
    finds_outputs_by: ClassVar[Literal["decoder", "ctc", "transducer"]] = "transducer"

    def __init__(
        self, options: TextTransducerOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int
    ) -> None:
        super().__init__()
        self.options = options
        self.source_embedding = Embedding(source_tokens, options.width, pad)
        self.target_embedding = self.source_embedding if shared else Embedding(target_tokens, options.width, pad)
        self.dropout = nn.Dropout(options.dropout)
        self.encoder = text_encoder(options)
        self.add_writer(options, options.dropout, options.width, target_tokens)
        self.alignment = Alignment()

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> HeardFrames:
        """Encode each source token as a frame."""
        states = self.dropout(self.layers(source, lengths)[-1])
        return HeardFrames(self.joint.heard(states), lengths.to(source.device, non_blocking=True))

    def begin(self, memory: HeardFrames) -> TransducerPrefixes:
        """Return the prefixes before anything is written."""
        return empty_prefixes(self, memory)

    def write(
        self, target: Int[Tensor, "row target"], memory: HeardFrames, past: TransducerPrefixes
    ) -> tuple[Float[Tensor, "row target symbol"], TransducerPrefixes]:
        """Return the log-probabilities of what follows each label, the end last, and the extended prefixes.

        A blank among the labels writes nothing.
        """
        distributions, starts = [], []
        for labels in target.unbind(1):
            continuations, past = write_labels(self, memory, past, labels)
            distributions.append(continuations.distribution)
            starts.append(continuations.starts)
        if is_watched():
            copies = len(target) // len(memory.counts)  # the rows of a beam share what was read
            self.alignment(starts, memory.counts.repeat_interleave(copies), 1)
        return torch.stack(distributions, dim=1), past

    def token_weights(self) -> Float[Tensor, "symbol width"]:
        """Return the output matrix of the joint network, which scores every symbol."""
        return self.joint.out.weight

    def token_biases(self) -> Float[Tensor, " symbol"]:
        """Return the bias of the output layer."""
        return self.joint.out.bias

    def logits(self, states: Float[Tensor, "*place symbol"]) -> Float[Tensor, "*place symbol"]:
        """Return the states, which already are log-probabilities."""
        return states

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return the vectors of each source token: its embedding, then the states of every layer."""
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder(embedded, lengths)]

    def cost(self, length: int) -> dict[str, int | float]:
        """Return the cost of reading and writing `length` tokens: multiplications, and all attention weights.

        The writing parts count as often as greedy search calls them: at each token, and after each label.
        """
        reading = count_matrix_weights(self.encoder, self.joint.heard)
        return encoder_cost(self.options, reading + 2 * self.writing_weights(), length)
