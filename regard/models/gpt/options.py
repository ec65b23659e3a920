"""Options of a decoder-only Transformer, and named sets of sizes."""

from collections.abc import Mapping
from math import prod
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.head_costs import head_depths, looking_cost
from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.presets import with_preset

PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"layers": 4, "width": 128, "heads": 4, "context": 64},
    "shakespeare": {"layers": 6, "width": 384, "heads": 6, "context": 256},
    "small": {"layers": 12, "width": 768, "heads": 12, "context": 1024},
}


class GPTOptions(Options):
    """Options of a decoder-only Transformer; the preset fills in sizes that are not set."""

    preset: Literal["tiny", "shakespeare", "small"] = Field(
        default="small", description="A named set of sizes: tiny, shakespeare, or small, which is GPT-2 (124M)."
    )
    layers: int = Field(ge=1, le=MOST_LAYERS, description="Number of blocks.")
    width: int = Field(ge=2, le=WIDEST, description="Width of the states between the blocks.")
    heads: int = Field(ge=1, le=WIDEST, description="Attention heads of each block.")
    context: int = Field(ge=2, le=LONGEST, description="Context length in tokens, the newest one included.")
    feed_forward: int | None = Field(
        default=None, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets; default 4 · width."
    )
    when_full: Literal["stop", "forget"] = Field(
        default="stop",
        description="What happens when the context is full: the text ends and longer ones are refused, or the older "
        "half is forgotten and the text continues.",
    )
    overlap: int = Field(
        default=0,
        ge=0,
        description="Long text is scored in windows of the context's length, each without a past. This many tokens of "
        "the previous window are read again first, and not scored twice.",
    )
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout on embeddings and on each sublayer's output.")
    attention_dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout on the attention weights.")
    norm: Literal["before", "after"] = Field(
        default="before", description="Layer norm before each sublayer, as in GPT-2, or after it, as in GPT."
    )
    positions: Literal["learned", "sinusoidal", "rotary", "alibi", "none"] = Field(
        default="learned", description="Position encoding."
    )
    activation: Literal["gelu-tanh", "gelu", "relu", "swish"] = Field(
        default="gelu-tanh", description="Activation of the feed-forward nets; gelu-tanh is GELU as GPT-2 computes it."
    )
    key_value_heads: int | None = Field(
        default=None,
        ge=1,
        description="Key and value heads, each shared by a group of query heads; default: one per query head.",
    )
    tied: bool = Field(default=True, description="Use one matrix for the embeddings and the output layer.")

    @property
    def inside(self) -> int:
        """Width inside the feed-forward nets."""
        return self.feed_forward or 4 * self.width

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay."""
        free = {"preset", "dropout", "attention_dropout", "when_full", "overlap"}
        return frozenset(free if self.positions == "learned" else free | {"context"})

    def forgotten(self, read: int) -> int:
        """Return how many of `read` consecutive tokens are forgotten if a full context forgets its older half."""
        at_once = self.context - self.context // 2
        return max(0, -(-(read - self.context) // at_once)) * at_once

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, values: Any) -> Any:
        return with_preset(cls, values, PRESETS)

    @model_validator(mode="after")
    def _check_sizes(self) -> "GPTOptions":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared out among {self.heads} heads")
        if self.positions in ("sinusoidal", "rotary") and (depth := self.width // self.heads) % 2:
            raise ValueError(f"{self.positions} positions use pairs of coordinates, but a head has {depth}")
        if self.key_value_heads and self.heads % self.key_value_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.key_value_heads} heads of keys and values evenly")
        if self.overlap >= self.context:
            raise ValueError(
                f"overlap is {self.overlap}, but must be less than the window, which is the context of {self.context}"
            )
        return self


def gpt_cost(options: GPTOptions, shapes: Mapping[str, tuple[int, ...]], tokens: int, size: int) -> dict[str, int]:
    """Return the cost of a text of `size` tokens: all matrices per token, and attention within the context.

    `shapes` maps names of parameters to their shapes, and `tokens` is the size of the vocabulary.
    """
    matrices = sum(prod(shape) for name, shape in shapes.items() if len(shape) == 2 and "blocks" in name)
    depths = head_depths(options.width, options.heads, "concatenated", shared_key_value=False)
    within, rest = divmod(size, options.context)
    key_value_heads = options.key_value_heads or options.heads
    whole, part = (
        looking_cost(options.heads, key_value_heads, depths, "scaled-dot", length) for length in (options.context, rest)
    )
    looking = options.layers * (within * whole + part)
    return {"multiplications": size * (matrices + tokens * options.width) + looking}
