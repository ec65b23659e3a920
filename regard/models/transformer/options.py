"""Options of a Transformer, and the cost of running one; without torch."""

from collections.abc import Mapping
from math import prod
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from regard.base.head_costs import head_depths, looking_cost
from regard.base.rows import SCORES, OrRowOf
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.cell_names import CellName
from regard.models.presets import with_preset
from regard.models.translator_options import CopyOptions, CTCOptions

PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"encoder_layers": 4, "decoder_layers": 4, "width": 128, "feed_forward": 256, "heads": 4},
    "small": {"encoder_layers": 3, "decoder_layers": 3, "width": 256, "feed_forward": 1024, "heads": 4},
    "iwslt": {"encoder_layers": 6, "decoder_layers": 6, "width": 512, "feed_forward": 1024, "heads": 4},
    "base": {"encoder_layers": 6, "decoder_layers": 6, "width": 512, "feed_forward": 2048, "heads": 8},
    "big": {"encoder_layers": 6, "decoder_layers": 6, "width": 1024, "feed_forward": 4096, "heads": 16},
}


class TransformerOptions(CopyOptions, CTCOptions):
    """Options of a Transformer; the preset fills in sizes that are not set."""

    preset: Literal["tiny", "small", "iwslt", "base", "big"] = Field(
        default="base", description="A named set of sizes: tiny, small, iwslt, base or big."
    )
    encoder: Literal["transformer", "recurrent"] = Field(
        default="transformer", description="Encoder: Transformer blocks, or bidirectional recurrent layers."
    )
    cell: CellName = Field(default="lstm", description="Cell of a recurrent encoder.")
    decoder_cell: Literal["attention", "ssru", "gru"] = Field(
        default="attention",
        description="How the decoder reads what it has written: by self-attention, as published, or by a recurrent "
        "cell, ssru or gru, whose state does not grow.",
    )
    encoder_layers: int = Field(ge=1, le=MOST_LAYERS, description="Blocks or layers of the encoder.")
    decoder_layers: int = Field(ge=1, le=MOST_LAYERS, description="Blocks of the decoder.")
    width: int = Field(ge=2, le=WIDEST, description="Width of the states between the blocks.")
    feed_forward: int = Field(
        ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets; default: follows width."
    )
    heads: int = Field(ge=1, le=WIDEST, description="Attention heads of each attention.")
    decoder_feed_forward: int | None = Field(
        default=None,
        ge=1,
        le=WIDEST_INSIDE,
        description="Width inside the decoder's feed-forward nets; default: the encoder's.",
    )
    decoder_heads: int | None = Field(
        default=None, ge=1, description="Heads of the decoder's attentions; default: the encoder's."
    )
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout on embeddings and on each sublayer's output.")
    attention_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout on the attention weights.")
    feed_forward_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout inside the feed-forward nets.")
    norm: Literal["before", "after"] = Field(
        default="after", description="Layer norm after each sublayer, as published, or before it."
    )
    positions: Literal["sinusoidal", "learned", "rotary", "alibi", "none"] = Field(
        default="sinusoidal", description="Position encoding."
    )
    score: Annotated[Literal["scaled-dot", "dot", "bilinear", "additive"], OrRowOf(SCORES)] = Field(
        default="scaled-dot",
        description="Attention score; additive needs far more memory than the others.",
    )
    key_value_heads: int | None = Field(
        default=None,
        ge=1,
        description="Key and value heads, each shared by a group of query heads; default: one per query head.",
    )
    shared_key_value: bool = Field(default=False, description="Use the keys as values too, with one projection.")
    join: Literal["concatenated", "averaged"] = Field(
        default="concatenated", description="Concatenate heads, as published, or average heads of full width."
    )
    activation: Literal["relu", "gelu", "swish"] = Field(
        default="relu", description="Activation of the feed-forward nets."
    )
    tied: bool = Field(
        default=True,
        description="Use one matrix for embeddings and output layer, and for both languages if they share tokens.",
    )
    shared_embeddings: bool | None = Field(
        default=None,
        description="Use one embedding matrix for both languages; by default only if they share a tokeniser.",
    )
    output_bias: bool = Field(
        default=False,
        description="Add a bias per token in the output layer; imported models have one, and it does not learn.",
    )
    longest: int = Field(default=1024, ge=1, le=LONGEST, description="Longest input or output in tokens.")

    @property
    def idle(self) -> tuple[str, ...]:
        return (*super().idle, *(("cell",) if self.encoder == "transformer" else ()))

    @model_validator(mode="after")
    def _check_cell(self) -> "TransformerOptions":
        if self.encoder == "transformer" and self.cell != type(self).model_fields["cell"].default:
            raise ValueError("cell is for encoder = 'recurrent', not 'transformer'")
        return self

    @property
    def can_round(self) -> bool:
        """True if engines can run such a model with rounded weights."""
        return self.encoder == "transformer" and self.decoder_cell != "gru" and not self.copies

    @property
    def ample_tokens(self) -> int:
        """Batch size in tokens beyond which a large GPU still has room but the model learns no faster."""
        return {"tiny": 8192, "small": 8192, "iwslt": 16_384}.get(self.preset, 25_600)

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay: neither weights nor outputs depend on them."""
        free = {"preset", "dropout", "attention_dropout", "feed_forward_dropout", "longest"}
        return frozenset(free - {"longest"} if self.positions == "learned" else free)

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, values: Any) -> Any:
        return with_preset(cls, values, PRESETS)

    @model_validator(mode="after")
    def _check_heads(self) -> "TransformerOptions":
        if self.width % 2:
            raise ValueError(f"width {self.width} is odd, but positions use pairs of coordinates")
        for heads in dict.fromkeys((self.heads, self.decoder_heads or self.heads)):
            self._check_count(heads)
        return self

    def _check_count(self, heads: int) -> None:
        """Refuse a number of heads that the width, the positions or the key and value heads do not allow."""
        if self.width % heads:
            raise ValueError(f"width {self.width} cannot be shared out among {heads} heads")
        whole = self.join == "averaged" and self.shared_key_value
        depth = self.width if whole else self.width // heads
        if self.positions == "rotary" and depth % 2:
            raise ValueError(f"rotary positions rotate pairs, but a head has {depth} coordinates")
        if self.key_value_heads and heads % self.key_value_heads:
            raise ValueError(f"{heads} heads cannot share {self.key_value_heads} heads of keys and values evenly")


def transformer_cost(
    options: TransformerOptions, shapes: Mapping[str, tuple[int, ...]], target_tokens: int, length: int
) -> dict[str, int | float]:
    """Return the cost of reading and writing `length` tokens: multiplications, and all attention weights.

    A matrix costs its size for every token; attention costs length² x width twice over (scores and mixing), which makes
    long texts expensive. `shapes` maps names of parameters to their shapes.
    """
    elsewhere = ("embedding", ".score.")  # looked up, or counted with the attention
    matrices = sum(
        prod(shape) for name, shape in shapes.items() if len(shape) == 2 and not any(part in name for part in elsewhere)
    )
    outward = target_tokens * options.width if options.tied else 0
    heads = [options.heads] * (options.encoder_layers if options.encoder == "transformer" else 0)
    looks_per_block = 2 if options.decoder_cell == "attention" else 1
    heads += [options.decoder_heads or options.heads] * (looks_per_block * options.decoder_layers)
    looking = sum(_looking_cost(options, count, length) for count in heads)
    total = length * (matrices + outward) + looking
    return {"multiplications": total, "attention_share": looking / total, "weights": sum(heads) * length**2}


def _looking_cost(options: TransformerOptions, heads: int, length: int) -> int:
    depths = head_depths(options.width, heads, options.join, options.shared_key_value)
    return looking_cost(heads, options.key_value_heads or heads, depths, options.score, length)
