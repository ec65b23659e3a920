"""A decoder-only Transformer: predicts the next token by looking back at all earlier ones.

h_0 = E[x] + P,   h_l = block(h_{l−1}),   p(x_{t+1} | x_1 … x_t) = softmax(E · norm(h_L)_t)

GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3) after GPT (Radford et
al. 2018): learned positions, a norm before each sublayer and one after the last, GELU in its tanh form, and one matrix
for embeddings and output. Departures are options: other positions, norms, activations, and heads that share keys and
values.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Causal
from regard.attention.editing import is_observed, refuse_places, standing
from regard.attention.heads import Cache, HeadOptions, MultiHead, extend_cache
from regard.attention.masks import Every, Mask
from regard.attention.positions import First, Learned, Sinusoidal, Unplaced
from regard.kernels import available
from regard.models.cross_entropy import projected_cross_entropy
from regard.models.gpt import memory as remembered
from regard.models.gpt.options import GPTOptions, gpt_cost
from regard.models.language import NEVER, TEXT, Memory, Reading
from regard.models.parts import FeedForward, Residual

DEVIATION = 0.02  # standard deviation of the initial weights (Radford et al. 2018, section 4.1)


class Block(nn.Module):
    """Attention to the earlier places and the query's own, then the feed-forward net; `side` names the places."""

    def __init__(self, options: GPTOptions, side: str = TEXT) -> None:
        super().__init__()
        within = options.positions if options.positions in ("rotary", "alibi") else "none"
        self.look_back = MultiHead(
            options.width,
            options.heads,
            looks_from=side,
            looks_at=side,
            dropout=options.attention_dropout,
            options=HeadOptions(key_value_heads=options.key_value_heads, positions=within),
        )
        self.feed_forward = FeedForward(options.width, options.inside, options.activation, dropout=0.0)
        self.around_look = Residual(options.width, options.dropout, options.norm)
        self.around_feed_forward = Residual(options.width, options.dropout, options.norm)

    def forward(
        self, states: Float[Tensor, "row time width"], past: Cache | None, mask: Mask, places: First
    ) -> tuple[Float[Tensor, "row time width"], Cache]:
        """Return the new states, and the cache extended by these places."""
        caches: list[Cache] = []

        def look(states: Tensor) -> Tensor:
            caches.append(extend_cache(past, self.look_back.remember(states, places)))
            return self.look_back(states, caches[0], mask, places)

        states = self.around_look(states, look)
        return self.around_feed_forward(states, self.feed_forward), caches[0]


class GPT(nn.Module):
    """Network from tokens and a memory to states and logits; `never` lists tokens that are never written."""

    carries = False  # training batches start without a past
    has_caches = True
    is_in_sections = False  # True if its blocks are whole one at a time

    def __init__(self, options: GPTOptions, tokens: int, never: Sequence[int] = ()) -> None:
        super().__init__()
        self.options, self.never = options, tuple(never)
        self.embedding = nn.Embedding(tokens, options.width)
        self.places = _places_of(options)
        self.dropout = nn.Dropout(options.dropout)
        self.blocks = nn.ModuleList(self.make_block(options) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width) if options.norm == "before" else nn.Identity()
        self.output = self.embedding if options.tied else nn.Embedding(tokens, options.width)
        self._draw_weights()

    @staticmethod
    def make_block(options: Any) -> nn.Module:
        """Build a block with its initial weights."""
        return Block(options)

    def _draw_weights(self) -> None:
        """Draw from N(0, 0.02²), divided by √(2 · layers) where one of the 2 · layers sublayers adds to the stream."""
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                adds = name.endswith(("look_back.out.weight", "feed_forward.outer.weight"))
                nn.init.normal_(parameter, std=DEVIATION * ((2 * self.options.layers) ** -0.5 if adds else 1.0))

    def sections(self) -> Iterator[tuple[nn.Module, tuple[str, ...]]]:
        """Yield the blocks."""
        return ((block, ()) for block in self.blocks)

    @property
    def context(self) -> int:
        return self.options.context

    @property
    def stops_when_full(self) -> bool:
        return self.options.when_full == "stop"

    @property
    def overlap(self) -> int:
        return self.options.overlap

    @property
    def output_vectors(self) -> Float[Tensor, "token width"]:
        return self.output.weight

    def begin(self, rows: int) -> Memory:
        heads, weight = self.options.key_value_heads or self.options.heads, self.embedding.weight
        empty = weight.new_zeros(rows, heads, 0, self.options.width // self.options.heads)
        return remembered.begin(empty, self.options.layers)

    def join(self, memories: Sequence[Memory]) -> Memory:
        return remembered.join(memories)

    def forgotten(self, read: int) -> int:
        """Return how many of `read` consecutive tokens are forgotten."""
        return self.options.forgotten(read)

    def read(self, tokens: Int[Tensor, "row time"], memory: Memory) -> Reading:
        """Read more tokens; whenever the context is full, forget its older half first."""
        if self.training and remembered.columns(memory) == 0 and self._can_fuse(tokens):
            from regard.models.gpt.fused import fused_states  # needs Triton

            outputs = fused_states(self, tokens)
            return Reading(outputs, outputs, {})
        states = []
        while tokens.shape[1]:
            if (room := self.context - remembered.columns(memory)) == 0:
                memory = self._forget(memory)
                continue
            reading = self._read_within(tokens[:, :room], memory)
            states.append(reading.states)
            tokens, memory = tokens[:, room:], reading.memory
        outputs = states[0] if len(states) == 1 else torch.cat(states, dim=1)
        return Reading(outputs, outputs, memory)

    def take_back(self, memory: Memory, count: int) -> Memory:
        """Return the memory without the last `count` tokens, which were read after it last forgot any."""
        return remembered.cut(memory, count) if count else memory

    def room(self, memory: Memory) -> int:
        """Return how many tokens can be read before something is forgotten again."""
        return self.context - remembered.columns(memory) or self.context - self.context // 2

    def _can_fuse(self, tokens: Int[Tensor, "row time"]) -> bool:
        """Return True if kernels can read these tokens in training, when no memory is carried on."""
        options = self.options
        return (
            tokens.is_cuda
            and self.embedding.weight.dtype == torch.float32
            and tokens.shape[1] <= self.context
            and (options.norm, options.activation) == ("before", "gelu-tanh")
            and options.positions in ("learned", "sinusoidal", "none")
            and options.key_value_heads in (None, options.heads)
            and not is_observed()
            and not self.is_in_sections
            and available()
        )

    def _read_within(self, tokens: Int[Tensor, "row time"], memory: Memory) -> Reading:
        before, time = remembered.columns(memory), tokens.shape[1]
        lengths = memory.get(remembered.LENGTHS)
        mask: Mask = Causal()
        places: First = before
        if lengths is not None:  # the rows have read different numbers of tokens, and stand flush right
            refuse_places("texts of different lengths are read together; give them one at a time")
            columns = torch.arange(before + time, device=tokens.device)
            mask = Every((Causal(), (columns >= before - lengths[:, None])[:, None, None]))
            places = lengths[:, None] + torch.arange(time, device=tokens.device)
        within = before if self.options.positions == "alibi" else places  # distances are between columns
        caches = []
        with standing(before):
            states = self.dropout(self.places(self.embedding(tokens), places))
            for number, block in enumerate(self.blocks):
                past = remembered.cache_of(memory, number) if before else None
                states, cache = block(states, past, mask, within)
                caches.append(cache)
            states = self.norm(states)
        return Reading(states, states, remembered.extend(memory, caches, tokens))

    @torch.no_grad()
    def _forget(self, memory: Memory) -> Memory:
        """Read the younger half of full rows again from the first place on; other rows stay unchanged."""
        refuse_places(f"the text is longer than the model's context of {self.context} tokens, so places count anew")

        def younger_half(memory: Memory) -> Memory:
            tokens = memory[remembered.TOKENS][:, -(self.context // 2) :]
            return self._read_within(tokens, self.begin(len(tokens))).memory

        lengths = memory.get(remembered.LENGTHS)
        if lengths is None:
            return younger_half(memory)
        full, others = ((lengths == self.context).nonzero()[:, 0], (lengths != self.context).nonzero()[:, 0])
        parts = [younger_half(remembered.select(memory, full)), remembered.select(memory, others)]
        order = torch.cat([full, others]).argsort()
        return remembered.select(remembered.join([part for part in parts if remembered.rows(part)]), order)

    def layers(self, tokens: Int[Tensor, "row time"]) -> list[Float[Tensor, "row time width"]]:
        """Return the vectors of each token: its embedding without position, then the output of every block."""
        outputs = [self.embedding(tokens)]
        states = self.dropout(self.places(outputs[0], 0))
        for block in self.blocks:
            states, _ = block(states, None, Causal(), 0)
            outputs.append(states)
        return [*outputs[:-1], self.norm(states)]

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return E · h, with −∞ for tokens that are never written."""
        logits = F.linear(states, self.output.weight)
        for token in self.never:
            logits[..., token] = -torch.inf
        return logits

    def cross_entropy(
        self, states: Float[Tensor, "row time width"], wanted: Int[Tensor, "row time"]
    ) -> Float[Tensor, ""]:
        return projected_cross_entropy(
            states.flatten(0, 1), self.output.weight, wanted.flatten(), label_smoothing=0.0, bias=self.output_biases
        )

    @property
    def output_biases(self) -> Float[Tensor, " token"] | None:
        """The bias that bars tokens that are never written."""
        if not self.never:
            return None
        bias = self.output.weight.new_zeros(len(self.output.weight))
        for token in self.never:
            bias.narrow(0, token, 1).fill_(NEVER)  # an index would copy from the host, which a CUDA graph cannot do
        return bias

    def multiplications(self, size: int) -> int:
        """Return the multiplications: all matrices per token, and attention within the context."""
        shapes = {name: tuple(parameter.shape) for name, parameter in self.named_parameters()}
        return gpt_cost(self.options, shapes, len(self.output.weight), size)["multiplications"]


def _places_of(options: GPTOptions) -> nn.Module:
    match options.positions:
        case "learned":
            return Learned(options.context, options.width)
        case "sinusoidal":
            return Sinusoidal()
    return Unplaced()
