"""Options of a BERT."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.presets import with_preset
from regard.models.transformer.encoder_blocks import block_options
from regard.models.transformer.options import TransformerOptions

# Sizes from Turc et al. 2019, Well-Read Students Learn Better, and the published base.
PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"layers": 2, "width": 128, "heads": 2, "feed_forward": 512},
    "mini": {"layers": 4, "width": 256, "heads": 4, "feed_forward": 1024},
    "small": {"layers": 4, "width": 512, "heads": 8, "feed_forward": 2048},
    "medium": {"layers": 8, "width": 512, "heads": 8, "feed_forward": 2048},
    "base": {"layers": 12, "width": 768, "heads": 12, "feed_forward": 3072},
}


class BertOptions(Options):
    """A bidirectional encoder of a text or a pair of texts; the preset fills in sizes that are not set."""

    preset: Literal["tiny", "mini", "small", "medium", "base"] = Field(
        "small", description="A named set of sizes: tiny, mini, small, medium or base."
    )
    layers: int = Field(ge=1, le=MOST_LAYERS, description="Number of blocks.")
    width: int = Field(ge=2, le=WIDEST, description="Width of the states between the blocks.")
    heads: int = Field(ge=1, le=WIDEST, description="Attention heads of each block.")
    feed_forward: int = Field(
        ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets; default: follows width."
    )
    longest: int = Field(512, ge=3, le=LONGEST, description="Longest input in tokens, special tokens included.")
    segments: int = Field(2, ge=1, le=64, description="Number of texts that one input can hold, as segments.")
    activation: Literal["relu", "gelu", "swish"] = Field(
        "gelu", description="Activation of the feed-forward nets, and of the layer that fills masks."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on inputs, sublayers and outputs.")
    attention_dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on the attention weights.")
    norm_epsilon: float = Field(1e-12, gt=0, le=1, description="Value that layer norms add to the variance.")
    pooling: Literal["first", "mean", "max"] = Field(
        "first",
        description="How the states of a text become one vector for classification: the state of the [CLS] token "
        "before it, their mean, or their maximum.",
    )
    pooler: bool = Field(
        False,
        description="Add a tanh layer after the state of the first token, as imported models have it.",
    )
    too_long: Literal["refuse", "ends"] = Field(
        "refuse",
        description="What to do with a text to classify that is too long: refuse it, or read as much of its beginning "
        "and end as fits.",
    )
    window: int | None = Field(
        None,
        ge=2,
        description="Read texts in windows of this many tokens: each token sees its own window, and positions begin "
        "again in each, so texts of any length can be read; default: the whole text at once.",
    )

    # Options that may differ for the same weights.
    adjustable: ClassVar[frozenset[str]] = frozenset(
        {"preset", "dropout", "attention_dropout", "pooling", "pooler", "too_long", "window"}
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, values: Any) -> Any:
        return with_preset(cls, values, PRESETS)

    @model_validator(mode="after")
    def _check(self) -> "BertOptions":
        if self.pooler and self.pooling != "first":
            raise ValueError(f"pooler follows the state of the first token, but pooling is '{self.pooling}'")
        if self.window is not None:
            self._check_window(self.window)
        self.of_blocks()
        return self

    def _check_window(self, window: int) -> None:
        if window > self.longest:
            raise ValueError(f"window is {window:,}, more than the {self.longest:,} places of longest")
        if self.pooling == "first":
            raise ValueError("pooling is 'first', but with a window [CLS] sees only the first one; use 'mean' or 'max'")
        if self.too_long == "ends":
            raise ValueError("too_long is 'ends', but with a window no text is too long")

    def of_blocks(self) -> TransformerOptions:
        """Return the options of its blocks, which are Transformer blocks."""
        return block_options(
            self,
            attention_dropout=self.attention_dropout,
            norm="after",
            positions="none",
            activation=self.activation,
        )
