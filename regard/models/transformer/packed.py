"""A Transformer's training pass over packed sentences: no padding anywhere, and fused kernels between the matrices.

It computes the same as `Transformer.read` and `write` for whole target sentences, from the same weights; a test
compares the two, and `packing` decides where it can be used.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.heads import MultiHead
from regard.attention.positions import Learned, Sinusoidal, sinusoids
from regard.kernels.attention import Shape, look
from regard.kernels.dropping import Chances
from regard.kernels.embedding import embedded
from regard.kernels.linear import linear, rectified_linear
from regard.kernels.norm import added_and_normed, normed
from regard.models.lowering import Group, lower_matrices
from regard.models.parts import Embedding, FeedForward, Residual
from regard.models.transformer.network import DecoderBlock, EncoderBlock, Transformer
from regard.models.transformer.packing import PackedSentences

STREAM = torch.float32  # dtype between the norms of a pre-norm model, where sums grow over all blocks
Rows = Float[Tensor, "token width"]
Memory = Float[Tensor, "source_token width"]
Sublayer = Callable[[Tensor], tuple[Tensor, Tensor]]  # returns its output, and a bias still to be added to it


def forced_states(network: Transformer, source: PackedSentences, target: PackedSentences, room: int) -> Rows:
    """Return the states that predict the next target token at each place: the packed `write` after `read`.

    `room` is a power of two that is at least the length of every sentence.
    """
    device = source.tokens.device
    dtype = torch.get_autocast_dtype(device.type) if torch.is_autocast_enabled(device.type) else torch.float32
    with torch.cuda.device_of(source.tokens), torch.autocast(device.type, enabled=False):
        run = _Pass(network, room, dtype)
        memory = run.encode(source)
        return run.decode(target, memory, source)


class _Pass:
    """One pass: the matrices in the precision of the products, and the order of sublayers."""

    def __init__(self, network: Transformer, room: int, dtype: torch.dtype) -> None:
        self.network, self.options, self.room, self.dtype = network, network.options, room, dtype
        options, active = network.options, float(network.training)
        self.share, self.look_share = options.dropout * active, options.attention_dropout * active
        self.feed_share = options.feed_forward_dropout * active
        self.chances = Chances(network.out.weight.device)
        self.matrices = lower_matrices(_groups(network), dtype)

    def encode(self, source: PackedSentences) -> Rows:
        network = self.network
        sublayers: list[tuple[Sublayer, Residual]] = []
        for block in network.encoder:
            assert isinstance(block, EncoderBlock)
            sublayers.append((self._self_look(block.self_look, source, causal=False), block.around_self))
            sublayers.append((self._feed(block.feed_forward), block.around_feed_forward))
        states = self._embed(network.source_embedding, network.source_places, source)
        return self._through(states, sublayers, network.encoder_norm)

    def decode(self, target: PackedSentences, memory: Memory, source: PackedSentences) -> Rows:
        network = self.network
        sublayers: list[tuple[Sublayer, Residual]] = []
        for block in network.decoder:
            assert isinstance(block, DecoderBlock)
            sublayers.append((self._self_look(block.self_look, target, causal=True), block.around_self))
            sublayers.append((self._cross_look(block.cross, target, memory, source), block.around_cross))
            sublayers.append((self._feed(block.feed_forward), block.around_feed_forward))
        states = self._embed(network.target_embedding, network.target_places, target)
        return self._through(states, sublayers, network.decoder_norm)

    def _embed(self, embedding: Embedding, places: nn.Module, sentences: PackedSentences) -> Rows:
        weight, table = embedding.weight, None
        if isinstance(places, Learned):
            table = places.places.weight
        elif isinstance(places, Sinusoidal):
            table = sinusoids(torch.arange(self.room, device=weight.device), weight.shape[1])
        dtype = STREAM if self.options.norm == "before" else self.dtype
        settings = weight.shape[1] ** 0.5, self.chances.dropping(self.share), dtype
        return embedded(weight, table, sentences.tokens, sentences.places, settings)

    def _through(self, states: Rows, sublayers: Sequence[tuple[Sublayer, Residual]], last: nn.Module) -> Rows:
        """Run all sublayers with their residuals; each norm is computed together with the sum before it."""
        norms = [residual.norm for _, residual in sublayers]
        if isinstance(last, nn.LayerNorm):  # norms are before the sublayers, and one after them all
            inputs = normed(states, norms[0], self.dtype)
            norms = [*norms[1:], last]
        else:
            inputs = states
        for (sublayer, _), norm in zip(sublayers, norms, strict=True):
            stream = states if isinstance(last, nn.LayerNorm) else inputs
            branch, bias = sublayer(inputs)
            states, inputs = added_and_normed(stream, branch, bias, self.chances.dropping(self.share), norm, self.dtype)
        return inputs

    def _self_look(self, heads: MultiHead, within: PackedSentences, causal: bool) -> Sublayer:
        shape = Shape(heads.heads, within.offsets, within.offsets, self.room, causal)

        def sublayer(states: Tensor) -> tuple[Tensor, Tensor]:
            to_all, bias, out = self.matrices[heads]
            context = look(linear(states, to_all, bias), None, shape, self.chances.dropping(self.look_share))
            return F.linear(context, out), _linear(heads.out).bias

        return sublayer

    def _cross_look(
        self, heads: MultiHead, target: PackedSentences, memory: Memory, source: PackedSentences
    ) -> Sublayer:
        shape = Shape(heads.heads, target.offsets, source.offsets, self.room)

        def sublayer(states: Tensor) -> tuple[Tensor, Tensor]:
            to_query, to_memory, out = self.matrices[heads]
            query = linear(states, to_query, heads.to_query.bias)
            keys_and_values = linear(memory, to_memory, heads.to_key_value.bias)
            context = look(query, keys_and_values, shape, self.chances.dropping(self.look_share))
            return F.linear(context, out), _linear(heads.out).bias

        return sublayer

    def _feed(self, net: FeedForward) -> Sublayer:
        def sublayer(states: Tensor) -> tuple[Tensor, Tensor]:
            inner, outer = self.matrices[net]
            active = rectified_linear(states, inner, net.inner.bias)
            return F.linear(F.dropout(active, self.feed_share) if self.feed_share else active, outer), net.outer.bias

        return sublayer


def _linear(module: nn.Module) -> nn.Linear:
    """Return the projection behind concatenated heads; heads are never averaged here."""
    assert isinstance(module, nn.Linear)
    return module


def _groups(network: Transformer) -> dict[nn.Module, list[Group]]:
    """Return the matrices of each sublayer; queries, keys and values with the same input are joined into one."""
    groups: dict[nn.Module, list[Group]] = {}
    for block in (*network.encoder, *network.decoder):
        assert isinstance(block, EncoderBlock | DecoderBlock)
        heads, net = block.self_look, block.feed_forward
        projected = heads.to_query, heads.to_key_value
        groups[heads] = [tuple(part.weight for part in projected), tuple(part.bias for part in projected)]
        groups[heads].append((_linear(heads.out).weight,))
        groups[net] = [(net.inner.weight,), (net.outer.weight,)]
        if isinstance(block, DecoderBlock):
            heads = block.cross
            projections = heads.to_query, heads.to_key_value, _linear(heads.out)
            groups[heads] = [(part.weight,) for part in projections]
    return groups
