"""Training pass of a decoder-only Transformer by fused kernels: what `GPT.read` returns for text without a past.

Besides the matrix products and torch's fused attention there is one kernel between two sublayers (bias, dropout,
residual and norm), one for the embeddings, and one for the gradients of GELU and a bias together. A test compares it
with the plain pass; `GPT.read` decides where it can be used, so `network` is always a GPT.
"""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from regard.attention.heads import MultiHead
from regard.attention.positions import Learned, Sinusoidal, sinusoids
from regard.kernels.dropping import Chances
from regard.kernels.embedding import embedded
from regard.kernels.linear import gelu_linear, linear
from regard.kernels.norm import added_and_normed, normed
from regard.models.lowering import Group, lower_matrices

STREAM = torch.float32  # dtype between the norms, where sums grow over all blocks
# cuDNN's kernel is the fastest on the newest GPUs; the first backend that can do the work is used.
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def fused_states(network: Any, tokens: Int[Tensor, "row time"]) -> Float[Tensor, "row time width"]:
    """Return the state after each token, for rows without a past."""
    device, (rows, time) = tokens.device, tokens.shape
    dtype = torch.get_autocast_dtype(device.type) if torch.is_autocast_enabled(device.type) else torch.float32
    with torch.cuda.device_of(tokens), torch.autocast(device.type, enabled=False):
        active = float(network.training)
        share, look_share = network.options.dropout * active, network.options.attention_dropout * active
        chances, matrices = Chances(device), lower_matrices(_groups(network), dtype)
        places = torch.arange(time, device=device).repeat(rows)
        settings = 1.0, chances.dropping(share), STREAM
        states = embedded(network.embedding.weight, _table(network, time), tokens.flatten(), places, settings)
        norms = _norms(network)
        inputs = normed(states, next(norms), dtype)
        for block in network.blocks:
            to_all, bias, out = matrices[block.look_back]
            projected = linear(inputs, to_all, bias).view(rows, time, 3, network.options.heads, -1)
            branch = F.linear(_look_back(projected, look_share), out)
            add = chances.dropping(share)
            states, inputs = added_and_normed(states, branch, _out(block.look_back).bias, add, next(norms), dtype)
            net = block.feed_forward
            inner, outer = matrices[net]
            branch = F.linear(gelu_linear(inputs, inner, net.inner.bias), outer)
            add = chances.dropping(share)
            states, inputs = added_and_normed(states, branch, net.outer.bias, add, next(norms), dtype)
        return inputs.view(rows, time, -1)


def _look_back(projected: Float[Tensor, "row time 3 head depth"], dropout: float) -> Float[Tensor, "place width"]:
    """softmax(Q Kᵀ / √depth) V over the places up to a query's own, with heads side by side."""
    # Unbind before transposing, so that the three gradients are laid out in the order of `projected`.
    query, key, value = (part.transpose(1, 2) for part in projected.unbind(2))
    with sdpa_kernel(BACKENDS, set_priority=True):
        context = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
    return context.transpose(1, 2).flatten(2).flatten(0, 1)


def _table(network: Any, time: int) -> Float[Tensor, "time width"] | None:
    """Return the vectors to add at each place, if any."""
    weight = network.embedding.weight
    match network.places:
        case Learned() as places:
            return places.places.weight
        case Sinusoidal():
            return sinusoids(torch.arange(time, device=weight.device), weight.shape[1])
    return None


def _norms(network: Any) -> Iterator[nn.LayerNorm]:
    """Yield the norm before each sublayer, and the last one behind them all, in the order of their names."""
    return (part for part in network.modules() if isinstance(part, nn.LayerNorm))


def _out(heads: MultiHead) -> nn.Linear:
    """Return the projection behind the heads; heads are never averaged here."""
    assert isinstance(heads.out, nn.Linear)
    return heads.out


def _groups(network: Any) -> dict[nn.Module, list[Group]]:
    """Return the matrices of each sublayer; those of queries, keys and values are joined into one."""
    groups: dict[nn.Module, list[Group]] = {}
    for block in network.blocks:
        heads, net = block.look_back, block.feed_forward
        projections = heads.to_query, heads.to_key_value
        groups[heads] = [
            tuple(part.weight for part in projections),
            tuple(part.bias for part in projections),
            (_out(heads).weight,),
        ]
        groups[net] = [(net.inner.weight,), (net.outer.weight,)]
    return groups
