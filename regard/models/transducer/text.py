"""Text to labels by a transducer (Graves 2012): an encoder over tokens, and labels that are written along them.

As in CTC the labels follow the order of the tokens, and a sum over all alignments is learnt; unlike there, each label
knows those before it, and a token may have any number of labels, for a letter may stand for two sounds or for none.
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
    """An encoder of text, and a prediction and a joint network that write along it."""


class TextTransducer(TransducerNetwork, Translator):
    """Tokens in, distributions over labels out; what a batch is, and how outputs are found, is the task's affair."""

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
        """Return what is known of each source token, which is a frame."""
        states = self.dropout(self.layers(source, lengths)[-1])
        return HeardFrames(self.joint.heard(states), lengths.to(source.device, non_blocking=True))

    def begin(self, memory: HeardFrames) -> TransducerPrefixes:
        """Return the prefixes before anything is written."""
        return empty_prefixes(self, memory)

    def write(
        self, target: Int[Tensor, "row target"], memory: HeardFrames, past: TransducerPrefixes
    ) -> tuple[Float[Tensor, "row target symbol"], TransducerPrefixes]:
        """Return the log-probabilities of what follows each label, the end behind all tokens, and what is then written.

        A blank among the labels writes nothing.
        """
        distributions, starts = [], []
        for labels in target.unbind(1):
            found, past = write_labels(self, memory, past, labels)
            distributions.append(found.distribution)
            starts.append(found.starts)
        if is_watched():
            copies = len(target) // len(memory.counts)  # the rows of a beam share what was read
            self.alignment(starts, memory.counts.repeat_interleave(copies), 1)
        return torch.stack(distributions, dim=1), past

    def token_weights(self) -> Float[Tensor, "symbol width"]:
        """Return what a state of the joint network is multiplied with to score every symbol."""
        return self.joint.out.weight

    def token_biases(self) -> Float[Tensor, " symbol"]:
        """Return what is then added to the scores."""
        return self.joint.out.bias

    def logits(self, states: Float[Tensor, "*place symbol"]) -> Float[Tensor, "*place symbol"]:
        """Return the log-probabilities as they are: what is written from is made of them already."""
        return states

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return what is known of each source token: its embedding, then the states of every layer."""
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder(embedded, lengths)]

    def cost(self, length: int) -> dict[str, int | float]:
        """Return what reading and writing `length` tokens takes: multiplications, and the weights of all attentions.

        What writes is counted as often as greedy search asks it: at each token, and behind each label.
        """
        reading = count_matrix_weights(self.encoder, self.joint.heard)
        return encoder_cost(self.options, reading + 2 * self.writing_weights(), length)
