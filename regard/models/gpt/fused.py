"""The training pass of a decoder-only Transformer by fused kernels: what `GPT.read` gives of text that is read anew.

Beside the matrices and torch's fused attention there is one kernel between two sublayers (bias, dropout, residual and
norm), one for the embeddings, and one for the gradients of GELU and of a bias together. A test holds it to the plain
pass; `GPT.read` says where it can stand in, so `network` is a GPT throughout.
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

STREAM = torch.float32  # between the norms, where sums grow over all blocks
# cuDNN's is the fastest on the newest GPUs; the first of them that can do the work does it.
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def fused_states(network: Any, tokens: Int[Tensor, "row time"]) -> Float[Tensor, "row time width"]:
    """The states from which each token is followed, of rows that begin with nothing."""
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
        found = normed(states, next(norms), dtype)
        for block in network.blocks:
            to_all, bias, out = matrices[block.look_back]
            projected = linear(found, to_all, bias).view(rows, time, 3, network.options.heads, -1)
            branch = F.linear(_look_back(projected, look_share), out)
            add = chances.dropping(share)
            states, found = added_and_normed(states, branch, _out(block.look_back).bias, add, next(norms), dtype)
            net = block.feed_forward
            inner, outer = matrices[net]
            branch = F.linear(gelu_linear(found, inner, net.inner.bias), outer)
            add = chances.dropping(share)
            states, found = added_and_normed(states, branch, net.outer.bias, add, next(norms), dtype)
        return found.view(rows, time, -1)


def _look_back(projected: Float[Tensor, "row time 3 head depth"], dropout: float) -> Float[Tensor, "place width"]:
    """softmax(Q Kᵀ / √depth) V over the places up to one's own, heads side by side."""
    # Parted before they are turned, so that the gradients of the three come together in the order of `projected`.
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
    """Those before each sublayer, and the one behind all of them, in the order of their names."""
    return (part for part in network.modules() if isinstance(part, nn.LayerNorm))


def _out(heads: MultiHead) -> nn.Linear:
    """The projection behind the heads, which are never averaged here."""
    assert isinstance(heads.out, nn.Linear)
    return heads.out


def _groups(network: Any) -> dict[nn.Module, list[Group]]:
    """For each sublayer the matrices it multiplies by; queries, keys and values make a single one."""
    groups: dict[nn.Module, list[Group]] = {}
    for block in network.blocks:
        heads, net = block.look_back, block.feed_forward
        together = heads.to_query, heads.to_key_value
        groups[heads] = [
            tuple(part.weight for part in together),
            tuple(part.bias for part in together),
            (_out(heads).weight,),
        ]
        groups[net] = [(net.inner.weight,), (net.outer.weight,)]
    return groups
