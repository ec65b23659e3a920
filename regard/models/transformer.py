"""The Transformer, encoder and decoder (Vaswani et al. 2017, "Attention Is All You Need").

Departures from the paper: the norm may stand before a sublayer, positions may be learned, rotary or absent, and the
dropout of weights and activations, which the authors' code has and their text has not, is an option.
"""

from typing import Any, Literal

from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Causal, Lengths
from regard.attention.heads import Cache, MultiHead, extended
from regard.attention.positions import Learned, Sinusoidal, Unplaced
from regard.models.parts import Embedding, FeedForward, Residual
from regard.recipe import Options

PRESETS: dict[str, dict[str, int]] = {
    "tiny": {"encoder_layers": 4, "decoder_layers": 4, "width": 128, "feed_forward": 256, "heads": 4},
    "small": {"encoder_layers": 3, "decoder_layers": 3, "width": 256, "feed_forward": 1024, "heads": 4},
    "iwslt": {"encoder_layers": 6, "decoder_layers": 6, "width": 512, "feed_forward": 1024, "heads": 4},
    "base": {"encoder_layers": 6, "decoder_layers": 6, "width": 512, "feed_forward": 2048, "heads": 8},
    "big": {"encoder_layers": 6, "decoder_layers": 6, "width": 1024, "feed_forward": 4096, "heads": 16},
}


class TransformerOptions(Options):
    """What a Transformer is built like; the preset gives every size that is not given."""

    preset: Literal["tiny", "small", "iwslt", "base", "big"] = Field(
        default="base", description="A named set of sizes: tiny, small, iwslt, base or big."
    )
    encoder_layers: int = Field(ge=1, description="Blocks of the encoder.")
    decoder_layers: int = Field(ge=1, description="Blocks of the decoder.")
    width: int = Field(ge=2, description="Width of the states between the blocks.")
    feed_forward: int = Field(ge=1, description="Width inside the feed-forward nets.")
    heads: int = Field(ge=1, description="Attention heads of each attention.")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Dropout on embeddings and on each sublayer's output.")
    attention_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout on the attention weights.")
    feed_forward_dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout inside the feed-forward nets.")
    norm: Literal["before", "after"] = Field(
        default="after", description="Layer norm after each sublayer, as published, or before it."
    )
    positions: Literal["sinusoidal", "learned", "rotary", "none"] = Field(
        default="sinusoidal", description="How a token knows its place."
    )
    activation: Literal["relu", "gelu"] = Field(default="relu", description="Activation of the feed-forward nets.")
    tied: bool = Field(
        default=True, description="One matrix for embeddings and output layer, of both languages if they share tokens."
    )
    longest: int = Field(default=1024, ge=1, description="The longest input or output in tokens.")

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        preset = given.get("preset", cls.model_fields["preset"].default)
        return PRESETS.get(str(preset), PRESETS["base"]) | given

    @model_validator(mode="after")
    def _check_heads(self) -> "TransformerOptions":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared out among {self.heads} heads")
        if self.width % 2:
            raise ValueError(f"width {self.width} is odd, but positions come in pairs of coordinates")
        if self.positions == "rotary" and self.width // self.heads % 2:
            raise ValueError(f"rotary positions turn pairs, but a head has {self.width // self.heads} coordinates")
        return self


class EncoderBlock(nn.Module):
    """Self-attention, then the feed-forward net."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.self_look = _heads(options, "source", "source", rotary=options.positions == "rotary")
        self.feed_forward = _feed_forward(options)
        self.around_self, self.around_feed_forward = _residual(options), _residual(options)

    def forward(
        self, states: Float[Tensor, "batch source width"], real: Lengths
    ) -> Float[Tensor, "batch source width"]:
        states = self.around_self(states, lambda s: self.self_look(s, self.self_look.remember(s), real))
        return self.around_feed_forward(states, self.feed_forward)


class DecoderBlock(nn.Module):
    """Masked self-attention, attention to the encoder's memory, then the feed-forward net."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.self_look = _heads(options, "target", "target", rotary=options.positions == "rotary")
        self.cross = _heads(options, "target", "source")
        self.feed_forward = _feed_forward(options)
        self.around_self, self.around_cross = _residual(options), _residual(options)
        self.around_feed_forward = _residual(options)

    def forward(
        self, states: Float[Tensor, "row target width"], past: Cache | None, memory: Cache, real: Lengths
    ) -> tuple[Float[Tensor, "row target width"], Cache]:
        """The new states, and the cache with what these places add to it."""
        first = 0 if past is None else past.keys.shape[2]
        caches: list[Cache] = []

        def look_back(states: Tensor) -> Tensor:
            caches.append(extended(past, self.self_look.remember(states, first)))
            return self.self_look(states, caches[0], Causal(), first)

        def look_at_source(states: Tensor) -> Tensor:
            # The rows of one sentence (a beam) share its memory: to the attention they are more queries.
            sentences = memory.keys.shape[0]
            shared = states.reshape(sentences, -1, states.shape[-1])
            return self.cross(shared, memory, real).reshape(states.shape)

        states = self.around_self(states, look_back)
        states = self.around_cross(states, look_at_source)
        return self.around_feed_forward(states, self.feed_forward), caches[0]


class Transformer(nn.Module):
    """Tokens in, states and logits out; what a batch is and what is minimised is the task's affair."""

    def __init__(
        self, options: TransformerOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int
    ) -> None:
        super().__init__()
        self.options = options
        self.source_embedding = Embedding(source_tokens, options.width, pad)
        self.target_embedding = self.source_embedding if shared else Embedding(target_tokens, options.width, pad)
        self.source_places, self.target_places = _places(options), _places(options)
        self.dropout = nn.Dropout(options.dropout)
        self.encoder = nn.ModuleList(EncoderBlock(options) for _ in range(options.encoder_layers))
        self.decoder = nn.ModuleList(DecoderBlock(options) for _ in range(options.decoder_layers))
        last_norm = options.norm == "before"
        self.encoder_norm = nn.LayerNorm(options.width) if last_norm else nn.Identity()
        self.decoder_norm = nn.LayerNorm(options.width) if last_norm else nn.Identity()
        self.out = nn.Linear(options.width, target_tokens, bias=False)
        nn.init.normal_(self.out.weight, std=options.width**-0.5)
        if options.tied:
            self.out.weight = self.target_embedding.weight

    def encode(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch source width"]:
        """The memory of each source token."""
        states = self.dropout(self.source_places(self.source_embedding(source)))
        for block in self.encoder:
            states = block(states, Lengths(lengths))
        return self.encoder_norm(states)

    def remember(self, memory: Float[Tensor, "batch source width"]) -> list[Cache]:
        """The memory as the keys and values that each decoder block looks at."""
        return [block.cross.remember(memory) for block in self.decoder if isinstance(block, DecoderBlock)]

    def decode(
        self,
        target: Int[Tensor, "row target"],
        memories: list[Cache],
        lengths: Int[Tensor, " batch"],
        past: list[Cache] | None = None,
    ) -> tuple[Float[Tensor, "row target width"], list[Cache]]:
        """The states of the target tokens, given those before them in `past`, and the caches grown by them."""
        first = past[0].keys.shape[2] if past else 0
        states = self.dropout(self.target_places(self.target_embedding(target), first))
        caches = []
        for number, block in enumerate(self.decoder):
            states, cache = block(states, past[number] if past else None, memories[number], Lengths(lengths))
            caches.append(cache)
        return self.decoder_norm(states), caches

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """The score of every token at every place."""
        return self.out(states)

    def cost(self, length: int) -> dict[str, int | float]:
        """What reading and writing `length` tokens takes: multiplications, and the weights of all attentions.

        A matrix costs its size for every token; an attention of a length costs length² x width twice over (the scores
        and the mixing), which is what makes long texts dear.
        """
        o = self.options
        attentions = o.encoder_layers + 2 * o.decoder_layers
        matrices = sum(p.numel() for name, p in self.named_parameters() if p.dim() == 2 and "embedding" not in name)
        outward = 0 if not o.tied else self.target_embedding.weight.numel()
        looking = 2 * attentions * length**2 * o.width
        total = length * (matrices + outward) + looking
        return {
            "multiplications": total,
            "attention_share": looking / total,
            "weights": attentions * o.heads * length**2,
        }


def _heads(options: TransformerOptions, looks_from: str, looks_at: str, rotary: bool = False) -> MultiHead:
    return MultiHead(
        options.width,
        options.heads,
        looks_from=looks_from,
        looks_at=looks_at,
        dropout=options.attention_dropout,
        rotary=rotary,
    )


def _feed_forward(options: TransformerOptions) -> FeedForward:
    return FeedForward(options.width, options.feed_forward, options.activation, options.feed_forward_dropout)


def _residual(options: TransformerOptions) -> Residual:
    return Residual(options.width, options.dropout, options.norm)


def _places(options: TransformerOptions) -> nn.Module:
    match options.positions:
        case "sinusoidal":
            return Sinusoidal()
        case "learned":
            return Learned(options.longest, options.width)
    return Unplaced()
