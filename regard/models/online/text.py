"""Text to text, online: each letter or word is read once, and each step writes the next output or waits."""

from typing import ClassVar

from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor

from regard.models.bounds import LONGEST
from regard.models.online.steps import OnlineMemory, OnlineWriter, WritingOptions
from regard.models.parts import Embedding
from regard.models.recurrent.layers import Stack
from regard.models.reinforcement import ReinforceOptions
from regard.models.translator import Translator


class OnlineOptions(WritingOptions):
    """Options of a translator that writes while it reads."""

    explores: ClassVar[bool] = True  # training samples where each token is written

    longest: int = Field(default=1024, ge=1, le=LONGEST, description="Longest input or output in tokens.")

    @property
    def ample_tokens(self) -> int:
        """Batch size in tokens beyond which a large GPU still has room but the model learns no faster."""
        return 8192

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay."""
        return frozenset(
            {"dropout", "delay", "delay_rises", "entropy_falls", "longest", *ReinforceOptions.model_fields}
        )


class Online(OnlineWriter, Translator):
    """Network from tokens to states and logits, reading and writing strictly from left to right."""

    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "embeddings": ("source_embedding", "target_embedding"),
        "encoder": ("encoder",),
        "decoder": ("decoder", "decision", "out"),
    }

    options: OnlineOptions

    def __init__(self, options: OnlineOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int) -> None:
        super().__init__(options)
        depth = options.embedding
        self.source_embedding = Embedding(source_tokens, depth, pad)
        self.target_embedding = self.source_embedding if shared else Embedding(target_tokens, depth, pad)
        self.encoder = Stack(options.cell, depth, options.width, options.encoder_layers, dropout=options.dropout)
        self.add_decoder(target_tokens)

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> OnlineMemory:
        """Encode each input token; a state depends only on the tokens up to its own."""
        states, _ = self.encoder.read(self.dropout(self.source_embedding(source)), lengths)
        last = self.options.repeats * lengths.to(source.device) - 1
        return OnlineMemory(self.dropout(states), last)

    def layers(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> list[Tensor]:
        """Return the vectors of each source token: its embedding, then the states of every encoder layer."""
        embedded = self.source_embedding(source)
        return [embedded, *self.encoder.read_layers(self.dropout(embedded), lengths)]

    def token_weights(self) -> Float[Tensor, "token width"]:
        """Return the output matrix, which scores every token."""
        return self.out.weight

    def token_biases(self) -> None:
        """Return the bias of the output layer: none."""

    def cost(self, length: int) -> dict[str, int | float]:
        """Return the cost of reading and writing `length` tokens: everything grows linearly."""
        return {"multiplications": self.multiplications(length), "attention_share": 0.0, "weights": length}
