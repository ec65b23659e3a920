"""Options of a BERT."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.presets import with_preset
from regard.models.transformer.encoder_blocks import block_options
from regard.models.transformer.options import TransformerOptions

# Those of Turc et al. 2019, Well-Read Students Learn Better, and the published base.
PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"layers": 2, "width": 128, "heads": 2, "feed_forward": 512},
    "mini": {"layers": 4, "width": 256, "heads": 4, "feed_forward": 1024},
    "small": {"layers": 4, "width": 512, "heads": 8, "feed_forward": 2048},
    "medium": {"layers": 8, "width": 512, "heads": 8, "feed_forward": 2048},
    "base": {"layers": 12, "width": 768, "heads": 12, "feed_forward": 3072},
}


class BertOptions(Options):
    """An encoder that reads a text, or a pair of texts, both ways; the preset gives every size that is not given."""

    preset: Literal["tiny", "mini", "small", "medium", "base"] = Field(
        "small", description="A named set of sizes: tiny, mini, small, medium or base."
    )
    layers: int = Field(ge=1, le=MOST_LAYERS, description="Blocks, one above the other.")
    width: int = Field(ge=2, le=WIDEST, description="Width of the states between the blocks.")
    heads: int = Field(ge=1, le=WIDEST, description="Attention heads of each block.")
    feed_forward: int = Field(ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")
    longest: int = Field(512, ge=3, le=LONGEST, description="The longest input in tokens, its marks counted.")
    segments: int = Field(2, ge=1, le=64, description="Texts of an input that are told apart.")
    activation: Literal["relu", "gelu", "swish"] = Field(
        "gelu", description="Activation of the feed-forward nets, and of the layer that fills masks."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on inputs, sublayers and what comes of them.")
    attention_dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on the attention weights.")
    norm_epsilon: float = Field(1e-12, gt=0, le=1, description="What layer norms add to the variance.")
    pooling: Literal["first", "mean", "max"] = Field(
        "first",
        description="How the states of a text become one vector, where one class is asked for: that of the token that "
        "stands before it ([CLS]), their mean, or the largest numbers.",
    )
    pooler: bool = Field(
        False,
        description="Whether a layer of tanh follows the state of the first token, as in models that were imported.",
    )
    too_long: Literal["refuse", "ends"] = Field(
        "refuse",
        description="What becomes of a text that is longer than the places there are, where one class is asked for: it "
        "is refused, or as much of its beginning and of its end is read as there is room for.",
    )

    # What may be another for the same weights.
    adjustable: ClassVar[frozenset[str]] = frozenset(
        {"preset", "dropout", "attention_dropout", "pooling", "pooler", "too_long"}
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, given: Any) -> Any:
        return with_preset(cls, given, PRESETS)

    @model_validator(mode="after")
    def _check(self) -> "BertOptions":
        if self.pooler and self.pooling != "first":
            raise ValueError(f"pooler follows the state of the first token, and pooling is '{self.pooling}'")
        self.of_blocks()
        return self

    def of_blocks(self) -> TransformerOptions:
        """The options of its blocks, which are those of a Transformer."""
        return block_options(
            self,
            attention_dropout=self.attention_dropout,
            norm="after",
            positions="none",
            activation=self.activation,
        )
