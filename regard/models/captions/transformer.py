"""A Transformer that writes captions: an encoder over the places of a picture, and a decoder of words.

Vaswani et al. 2017, "Attention Is All You Need", with the places of a grid where a translator has source tokens,
as Herdade et al. 2019 use regions. Each place has a learnt vector, since the grid is always the same.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.editing import standing
from regard.attention.heads import Cache
from regard.attention.positions import Sinusoidal
from regard.base.recipe import Options
from regard.models.bounds import MOST_LAYERS, WIDEST, WIDEST_INSIDE
from regard.models.captions.written import Annotations, Written
from regard.models.parts import Embedding, count_matrix_weights
from regard.models.transformer.network import DecoderBlock, EncoderBlock
from regard.models.transformer.options import TransformerOptions


class CaptionTransformerOptions(Options):
    """Options of a Transformer that writes captions."""

    encoder_layers: int = Field(
        2, ge=0, le=MOST_LAYERS, description="Encoder blocks over the places of a picture; may be 0."
    )
    decoder_layers: int = Field(2, ge=1, le=MOST_LAYERS, description="Decoder blocks over the words.")
    width: int = Field(256, ge=2, le=WIDEST, description="Width of the states between the blocks.")
    feed_forward: int = Field(1024, ge=1, le=WIDEST_INSIDE, description="Width inside the feed-forward nets.")
    heads: int = Field(4, ge=1, le=WIDEST, description="Attention heads of each attention.")
    dropout: float = Field(0.3, ge=0, lt=1, description="Dropout on embeddings and on each sublayer's output.")
    norm: Literal["before", "after"] = Field("before", description="Layer norm before each sublayer, or after it.")

    @model_validator(mode="after")
    def _check_heads(self) -> "CaptionTransformerOptions":
        self.blocks()
        return self

    def blocks(self) -> TransformerOptions:
        """Return the options of a translator's blocks; only here may the number of encoder blocks be 0."""
        sizes = {name: getattr(self, name) for name in CaptionTransformerOptions.model_fields}
        sizes |= {"encoder_layers": max(1, self.encoder_layers)}
        return TransformerOptions(**sizes)

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay."""
        return frozenset({"dropout"})


PlaceMemory = list[Cache]  # the keys and values of all places that each block of the decoder looks at


class CaptionTransformer(nn.Module):
    """Network from annotations to states and scores of words."""

    evenness = 0.0  # every block has several heads, and none is asked to look everywhere
    chooses = False

    def __init__(self, options: CaptionTransformerOptions, depth: int, places: int, tokens: int, pad: int) -> None:
        super().__init__()
        self.options, blocks = options, options.blocks()
        self.of_place = nn.Linear(depth, options.width)
        self.places = nn.Parameter(torch.zeros(places, options.width))
        self.encoder = nn.ModuleList(EncoderBlock(blocks) for _ in range(options.encoder_layers))
        self.embedding, self.positions = Embedding(tokens, options.width, pad), Sinusoidal()
        self.decoder = nn.ModuleList(DecoderBlock(blocks) for _ in range(options.decoder_layers))
        last_norm = options.norm == "before"
        self.encoder_norm, self.decoder_norm = (
            nn.LayerNorm(options.width) if last_norm else nn.Identity() for _ in range(2)
        )
        self.dropout = nn.Dropout(options.dropout)
        nn.init.normal_(self.places, std=0.02)

    @property
    def dtype(self) -> torch.dtype:
        return self.places.dtype

    def read(self, annotations: Annotations, kept: Sequence[int] | None = None) -> PlaceMemory:
        places = self.places if kept is None else self.places[list(kept)]
        states = self.dropout(self.of_place(annotations) + places)
        for block in self.encoder:
            states = block(states, None)
        states = self.encoder_norm(states)
        return [block.cross.remember(states) for block in self._decoder_blocks]

    def begin(self, memory: PlaceMemory) -> list[Cache]:
        """Return the empty past before the first word."""
        return []

    def write(self, target: Int[Tensor, "row time"], memory: PlaceMemory, past: list[Cache]) -> Written:
        first = past[0].keys.shape[2] if past else 0
        with standing(first, len(memory[0].keys)):
            states, caches = self.dropout(self.positions(self.embedding(target), first)), list[Cache]()
            for number, block in enumerate(self._decoder_blocks):
                before = past[number] if past else None
                states, cache = block(states, before, memory[number], None)
                caches.append(cache)
            nothing = states[:, 0, :0]
            return Written(self.decoder_norm(states), caches, states[..., :0], nothing, nothing)

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the products with the word embeddings."""
        return states @ self.embedding.weight.mT

    def multiplications(self, places: int, words: int) -> int:
        """Return the multiplications for `words` words about a picture with `places` places."""
        reading = count_matrix_weights(self.of_place, self.encoder)
        writing = count_matrix_weights(self.embedding, self.decoder)
        looking = places**2 * len(self.encoder) + (words**2 + words * places) * len(self.decoder)
        return places * reading + words * writing + 2 * self.options.width * looking

    @property
    def _decoder_blocks(self) -> list[DecoderBlock]:
        return [block for block in self.decoder if isinstance(block, DecoderBlock)]
