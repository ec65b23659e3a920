"""The Transformer, encoder and decoder (Vaswani et al. 2017, "Attention Is All You Need").

Departures from the paper: the norm may be before a sublayer, positions may be learned, rotary, ALiBi or absent, heads
may share keys and values, use another score or be averaged, a decoder may have other heads and feed-forward nets than
its encoder, the encoder may be recurrent, a recurrent cell may replace the decoder's self-attention, and dropout on
weights and activations, which is in the authors' code but not in their text, is an option.
"""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Causal, Lengths, Mask
from regard.attention.editing import side_by_side, standing
from regard.attention.heads import Cache, HeadOptions, MultiHead, cut_cache, extend_cache
from regard.attention.positions import Learned, Sinusoidal, Unplaced
from regard.base.faults import Fault
from regard.models.copying import Copying, Pointed, Pointer
from regard.models.ctc.head import CTCHead
from regard.models.parts import Embedding, FeedForward, Residual
from regard.models.rounding import Scheme, round_network, round_states, round_weights, straight_through
from regard.models.transformer.decoder_cells import CellPast, decoder_cell
from regard.models.transformer.options import TransformerOptions, transformer_cost
from regard.models.translator import Translator


class Memory(NamedTuple):
    """Encoder output: the keys and values for each decoder block, and the number of real places in each row."""

    blocks: list[Cache]
    lengths: Int[Tensor, " batch"]
    pointer: tuple[Tensor, ...] = ()  # keys of the copying head, if there is one
    frames: tuple[Tensor, ...] = ()  # frames of the CTC head, if there is one


class EncoderBlock(nn.Module):
    """Self-attention, then the feed-forward net."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.self_look = _heads(options, "source", "source")
        self.feed_forward = _feed_forward(options, options.feed_forward)
        self.around_self, self.around_feed_forward = _residual(options), _residual(options)

    def forward(
        self, states: Float[Tensor, "batch source width"], real: Mask | None
    ) -> Float[Tensor, "batch source width"]:
        """Return the new states; without a mask every place sees every other and no row has padding."""
        states = self.around_self(states, lambda s: self.self_look(s, self.self_look.remember(s), real))
        return self.around_feed_forward(states, self.feed_forward)


class WritingBlock(nn.Module):
    """Base of decoder blocks: after a first sublayer of their own, attention to the memory and the feed-forward net."""

    def add_end(self, options: TransformerOptions) -> None:
        """Build these sublayers; called after the first one is built, so that weights are drawn in the order of use."""
        self.cross = _heads(options, "target", "source")
        self.feed_forward = _feed_forward(options, options.decoder_feed_forward or options.feed_forward)
        self.around_self, self.around_cross = _residual(options), _residual(options)
        self.around_feed_forward = _residual(options)

    def end(
        self, states: Float[Tensor, "row target width"], first: int, memory: Cache, real: Lengths | None
    ) -> Float[Tensor, "row target width"]:
        """Return the states after these sublayers; the first place is `first`."""

        def look_at_source(states: Tensor) -> Tensor:
            # The rows of one sentence (a beam) share its memory: to the attention they are just more queries.
            sentences = memory.keys.shape[0]
            shared = states.reshape(sentences, -1, states.shape[-1])
            places = side_by_side(first, states.shape[1], states.shape[0] // sentences, states.device)
            with standing(places, sentences):
                return self.cross(shared, memory, real, places).reshape(states.shape)

        return self.around_feed_forward(self.around_cross(states, look_at_source), self.feed_forward)


class DecoderBlock(WritingBlock):
    """Masked self-attention, attention to the encoder's memory, then the feed-forward net."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.self_look = _heads(options, "target", "target")
        self.add_end(options)

    def forward(
        self, states: Float[Tensor, "row target width"], past: Cache | None, memory: Cache, real: Lengths | None
    ) -> tuple[Float[Tensor, "row target width"], Cache]:
        """Return the new states, and the cache extended by these places; without lengths no memory has padding."""
        first = 0 if past is None else past.keys.shape[2]
        caches: list[Cache] = []

        def look_back(states: Tensor) -> Tensor:
            caches.append(extend_cache(past, self.self_look.remember(states, first)))
            return self.self_look(states, caches[0], Causal(), first)

        states = self.around_self(states, look_back)
        return self.end(states, first, memory, real), caches[0]


class RecurrentDecoderBlock(WritingBlock):
    """A recurrent cell instead of self-attention, attention to the encoder's memory, then the feed-forward net."""

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.cell = decoder_cell(options.decoder_cell, options.width)
        self.add_end(options)

    def forward(
        self, states: Float[Tensor, "row target width"], past: CellPast | None, memory: Cache, real: Lengths | None
    ) -> tuple[Float[Tensor, "row target width"], CellPast]:
        """Return the new states, and the state of the cell after these places."""
        first = 0 if past is None else past.length
        after: list[Tensor] = []

        def read(states: Tensor) -> Tensor:
            outputs, state = self.cell(states, None if past is None else past.state, first)
            after.append(state)
            return outputs

        states = self.around_self(states, read)
        return self.end(states, first, memory, real), CellPast.after(after[0], first + states.shape[1])


Past = Cache | CellPast  # what a decoder block remembers of the places before


class Transformer(Translator):
    """Network from tokens to states and logits; the task defines batches and the loss."""

    # A tied matrix belongs to the first part that has it.
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "embeddings": ("source_embedding", "target_embedding", "source_places", "target_places"),
        "encoder": ("encoder", "encoder_norm"),
        "decoder": ("decoder", "decoder_norm", "out", "pointer", "copying", "ctc_head"),
    }
    has_packed_pass = True
    output_bias: Tensor | None
    is_in_sections = False  # True if its blocks are whole one at a time
    rounding: Scheme | None = None  # how engines round what it computes with, if it computes as they do

    def __init__(
        self, options: TransformerOptions, source_tokens: int, target_tokens: int, shared: bool, pad: int
    ) -> None:
        super().__init__()
        self.options = options
        shared = shared if options.shared_embeddings is None else options.shared_embeddings
        if shared and source_tokens != target_tokens:
            sizes = f"{source_tokens} source tokens and {target_tokens} target tokens"
            raise Fault(f"model.shared_embeddings is true, but {sizes} cannot share one matrix.")
        self.source_embedding = Embedding(source_tokens, options.width, pad)
        self.target_embedding = self.source_embedding if shared else Embedding(target_tokens, options.width, pad)
        is_recurrent = options.encoder == "recurrent"  # and so needs no positions
        self.source_places, self.target_places = Unplaced() if is_recurrent else places_of(options), places_of(options)
        self.dropout = nn.Dropout(options.dropout)
        block = _recurrent_block() if is_recurrent else EncoderBlock
        self.encoder = nn.ModuleList(block(options) for _ in range(options.encoder_layers))
        self.has_caches = options.decoder_cell == "attention"
        writing = DecoderBlock if self.has_caches else RecurrentDecoderBlock
        self.decoder = nn.ModuleList(writing(options) for _ in range(options.decoder_layers))
        last_norm = options.norm == "before"
        self.encoder_norm = nn.LayerNorm(options.width) if last_norm else nn.Identity()
        self.decoder_norm = nn.LayerNorm(options.width) if last_norm else nn.Identity()
        self.out = nn.Linear(options.width, target_tokens, bias=False)
        nn.init.normal_(self.out.weight, std=options.width**-0.5)
        if options.tied:
            self.out.weight = self.target_embedding.weight
        self.pointer = Pointer(options.width) if options.copies else None
        self.copying = Copying(options.width) if options.copies else None
        self.ctc_head = CTCHead(options.width, target_tokens, options.ctc_frames) if options.ctc else None
        # A buffer: only imported models have one, and it does not learn.
        self.register_buffer("output_bias", torch.zeros(target_tokens) if options.output_bias else None)

    def round_as(self, scheme: Scheme) -> None:
        """Compute from now on as an engine does that stores the weights in this scheme; the weights do not change."""
        self.rounding = scheme
        self.has_caches = False  # a captured step would repeat the rounding of all weights
        for part in (self.source_embedding, self.target_embedding, self.encoder, self.decoder, self.out):
            round_network(part, scheme)

    def sections(self) -> Iterator[tuple[nn.Module, tuple[str, ...]]]:
        """Yield the blocks; cross-attention comes first, as it makes its keys and values before its block runs."""
        for block in self.encoder:
            yield block, ()
        for block in self.decoder:
            assert isinstance(block, WritingBlock)
            yield block.cross, ("remember",)
            yield block, ()

    def encode(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch source width"]:
        """Return the encoder's state of each source token."""
        return self.layers(source, lengths)[-1]

    def layers(
        self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]
    ) -> list[Float[Tensor, "batch source width"]]:
        """Return the vectors of each source token: its embedding without position, then the output of every block."""
        real = Lengths(self._for_encoder(lengths, source.device))
        outputs = [self.source_embedding(source)]
        states = self.dropout(self.source_places(outputs[0]))
        for block in self.encoder:
            states = block(states, real)
            outputs.append(states)
        return [*outputs[:-1], self.encoder_norm(states)]

    def _for_encoder(self, lengths: Int[Tensor, " batch"], device: torch.device) -> Int[Tensor, " batch"]:
        """Return lengths where the encoder needs them: recurrent layers on the host, where batches keep them."""
        return lengths if self.options.encoder == "recurrent" else lengths.to(device, non_blocking=True)

    def read(self, source: Int[Tensor, "batch source"], lengths: Int[Tensor, " batch"]) -> Memory:
        """Encode each source sentence for the decoder."""
        memory = self.encode(source, lengths)
        lengths = lengths.to(source.device, non_blocking=True)  # batches keep lengths on the host
        blocks = [block.cross.remember(memory) for block in self.decoder if isinstance(block, WritingBlock)]
        pointer = () if self.pointer is None else (self.pointer.remember(memory),)
        frames = () if self.ctc_head is None else (self.ctc_head(memory, lengths),)
        return Memory(blocks, lengths, pointer, frames)

    def begin(self, memory: Memory) -> list[Past]:
        """Return the empty past, before anything is written."""
        return []

    def write(
        self, target: Int[Tensor, "row target"], memory: Memory, past: list[Past]
    ) -> tuple[Float[Tensor, "row target width"], list[Past]]:
        """Return the states of the target tokens after those in `past`, and the past of the next ones."""
        first = _count(past)
        with standing(first, len(memory.lengths)):
            states = self.dropout(self.target_places(self.target_embedding(target), first))
            caches = []
            for number, block in enumerate(self.decoder):
                before = past[number] if past else None
                states, cache = block(states, before, memory.blocks[number], Lengths(memory.lengths))
                caches.append(cache)
            states = self.decoder_norm(states)
            # Losses multiply states by `token_weights` themselves, so rounding them in the output layer is not enough.
            return states if self.rounding is None else round_states(states), caches

    def take_back(self, past: list[Cache], count: int) -> list[Cache]:
        """Return the caches of self-attention without their last `count` tokens."""
        return [cut_cache(cache, count) for cache in past] if count else past

    def point(self, target: Int[Tensor, "row target"], memory: Memory, past: list[Past]) -> tuple[Pointed, list[Past]]:
        """Write as `write` does, for a model that copies; also return where each state points, and its copy switch."""
        assert self.pointer is not None
        assert self.copying is not None
        first = _count(past)
        states, caches = self.write(target, memory, past)
        with standing(first, len(memory.lengths)):
            weights = self.pointer(states, memory.pointer[0], Lengths(memory.lengths), first)
            return self.copying(states, weights, memory.lengths), caches

    def token_weights(self) -> Float[Tensor, "token width"]:
        """Return the output matrix, which scores every token."""
        weight = self.out.weight
        if self.rounding is None:
            return weight
        return straight_through(weight, round_weights(weight.detach(), self.rounding))

    def token_biases(self) -> Float[Tensor, " token"] | None:
        """Return the bias of the output layer; only imported models have one, and it does not learn."""
        return self.output_bias

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the score of every token at every place."""
        scores = self.out(states)
        return scores if self.output_bias is None else scores + self.output_bias

    def cost(self, length: int) -> dict[str, int | float]:
        """Return the cost of reading and writing `length` tokens: multiplications, and all attention weights."""
        shapes = {name: tuple(parameter.shape) for name, parameter in self.named_parameters()}
        return transformer_cost(self.options, shapes, self.out.out_features, length)


def _count(past: list[Past]) -> int:
    """Return the number of places that were written before."""
    if not past:
        return 0
    return past[0].keys.shape[2] if isinstance(past[0], Cache) else past[0].length


def _heads(options: TransformerOptions, looks_from: str, looks_at: str) -> MultiHead:
    within = looks_from == looks_at  # there is no distance between places of two different sides
    return MultiHead(
        options.width,
        options.heads if looks_from == "source" else options.decoder_heads or options.heads,
        looks_from=looks_from,
        looks_at=looks_at,
        dropout=options.attention_dropout,
        options=HeadOptions(
            key_value_heads=options.key_value_heads,
            shared_key_value=options.shared_key_value,
            join=options.join,
            score=options.score,
            positions=options.positions if within and options.positions in ("rotary", "alibi") else "none",
        ),
    )


def _feed_forward(options: TransformerOptions, hidden: int) -> FeedForward:
    return FeedForward(options.width, hidden, options.activation, options.feed_forward_dropout)


def _residual(options: TransformerOptions) -> Residual:
    return Residual(options.width, options.dropout, options.norm)


def _recurrent_block() -> type[nn.Module]:
    """Return the block of a recurrent encoder, imported only when needed."""
    from regard.models.transformer.recurrent_encoder import RecurrentBlock

    return RecurrentBlock


def places_of(options: TransformerOptions) -> nn.Module:
    """Build the position encoding before the first block, if there is one."""
    match options.positions:
        case "sinusoidal":
            return Sinusoidal()
        case "learned":
            return Learned(options.longest, options.width)
    return Unplaced()
