"""Addressing in a memory: by content, by a shift from the last address, and how writes are stored.

An address is a distribution over the slots, one for each head. All inputs and outputs have one row per memory; nothing
here is learnt.
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

SMALLEST_SQUARE = 1e-6  # added to a squared length
SMALLEST_WEIGHT = 1e-16  # added to the weight of a slot, so that it has a logarithm
SMALLEST_USAGE = 1e-6  # least usage of a slot, for the same reason

Memory = Float[Tensor, "row slot depth"]
Addresses = Float[Tensor, "row head slot"]
Keys = Float[Tensor, "row head depth"]
Numbers = Float[Tensor, "row head"]
Links = Float[Tensor, "row slot slot"]


def cosines(
    keys: Float[Tensor, "*row head depth"], memory: Float[Tensor, "*row slot depth"]
) -> Float[Tensor, "*row head slot"]:
    """K[k, M(i)] = k·M(i) / (|k| |M(i)|), equation 6 of Graves et al. 2014, with |v| = √(v·v + SMALLEST_SQUARE).

    So a nearly empty slot is not near any key, and its gradient is no larger than that of others.
    """
    key_scale, slot_scale = ((vectors.square().sum(dim=-1) + SMALLEST_SQUARE).rsqrt() for vectors in (keys, memory))
    return keys @ memory.transpose(-2, -1) * key_scale.unsqueeze(-1) * slot_scale.unsqueeze(-2)


def by_content(keys: Keys, strengths: Numbers, memory: Memory) -> Addresses:
    """w(i) = softmax over the slots of β K[k, M(i)], equation 5 of Graves et al. 2014."""
    return (strengths.unsqueeze(-1) * cosines(keys, memory)).softmax(dim=-1)


def interpolate(gates: Numbers, content: Addresses, before: Addresses) -> Addresses:
    """w_g = g w_c + (1 − g) w_{t−1}, equation 7 of Graves et al. 2014."""
    return torch.lerp(before, content, gates.unsqueeze(-1))


def shift(addresses: Addresses, steps: Float[Tensor, "row head step"]) -> Addresses:
    """w̃(i) = Σ_j w(i − j) s(j), slots in a circle, equation 8 of Graves et al. 2014.

    `steps` holds the probabilities of moving by −n, …, 0, …, n slots.
    """
    reach = steps.shape[-1] // 2
    around = torch.cat([addresses[..., -reach:], addresses, addresses[..., :reach]], dim=-1)
    windows = around.unfold(-1, steps.shape[-1], 1)  # for each slot, those from `reach` before it to `reach` after it
    return (windows * steps.flip(-1).unsqueeze(-2)).sum(dim=-1)


def move(addresses: Addresses, moves: Numbers) -> Addresses:
    """w̃(i) = (1 − f) w(i − n) + f w(i − n − 1) for a move by n + f slots, n whole and 0 ≤ f < 1, slots in a circle.

    Section 3.3.2 of Graves et al. 2014: one number is the lower bound of a uniform distribution over moves, of width 1.
    """
    whole, slots = moves.floor(), addresses.shape[-1]
    come_from = torch.arange(slots, device=moves.device) - whole.long().unsqueeze(-1)
    moved = addresses.gather(-1, come_from.remainder(slots))
    return torch.lerp(moved, moved.roll(1, -1), (moves - whole).unsqueeze(-1))


class _Bounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, numbers: Tensor, bound: float) -> Tensor:
        ctx.bound = bound
        return numbers.view_as(numbers)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        return upstream[0].clamp(-ctx.bound, ctx.bound), None


def bound_gradient(moves: Numbers, bound: float) -> Numbers:
    """Return the same moves; on the way back each gradient is cut to ±bound.

    A head's next move depends on what it reads, so gradients can grow a hundredfold in a step, and a few sequences then
    decide for a whole batch. Graves (2013, section 2.1) cuts the gradients of an LSTM's inputs for the same reason.
    """
    cut: Numbers = _Bounded.apply(moves, bound)
    return cut


def sharpen(addresses: Addresses, powers: Numbers) -> Addresses:
    """w(i) = w̃(i)^γ / Σ_j w̃(j)^γ, equation 9 of Graves et al. 2014.

    Computed as softmax(γ log w̃), which is the same and does not divide by zero where all powers underflow.
    """
    return (powers.unsqueeze(-1) * (addresses + SMALLEST_WEIGHT).log()).softmax(dim=-1)


def erase_and_add(memory: Memory, addresses: Addresses, erase: Keys, add: Keys) -> Memory:
    """M(i) ← M(i) Π_h [1 − w_h(i) e_h] + Σ_h w_h(i) a_h, for all heads: equations 3 and 4 of Graves et al. 2014."""
    one = memory.new_ones(1, 1, 1)
    for address, erased in zip(addresses.unbind(1), erase.unbind(1), strict=True):
        memory = memory * torch.baddbmm(one, address.unsqueeze(-1), erased.unsqueeze(-2), alpha=-1)
    return torch.baddbmm(memory, addresses.transpose(1, 2), add)


def one_plus(numbers: Tensor) -> Tensor:
    """1 + log(1 + e^x), which is at least 1."""
    return 1 + F.softplus(numbers)


def allocate(usage: Float[Tensor, "row slot"]) -> Float[Tensor, "row slot"]:
    """a(φ_j) = (1 − u(φ_j)) Π_{i<j} u(φ_i), φ the slots sorted by usage, equation 1 of Graves et al. 2016.

    The product is a sum of logarithms, whose gradient never waits for a GPU; a usage of 0 counts as SMALLEST_USAGE.
    """
    ordered, order = usage.sort(dim=-1, stable=True)  # stable: equal usages have the same order on every device
    ordered = SMALLEST_USAGE + (1 - SMALLEST_USAGE) * ordered
    logarithms = ordered.log()
    free = (1 - ordered) * (logarithms.cumsum(dim=-1) - logarithms).exp()
    return torch.zeros_like(free).scatter(-1, order, free)


def use(
    usage: Float[Tensor, "row slot"],
    wrote: Float[Tensor, "row slot"],
    read: Addresses,
    freed: Numbers,
) -> Float[Tensor, "row slot"]:
    """u ← (u + w − u w) Π_h (1 − f_h w_h), with the last step's writes w, reads w_h and free gates f_h.

    Methods, "dynamic memory allocation", of Graves et al. 2016.
    """
    remaining = torch.addcmul(usage + wrote, usage, wrote, value=-1)
    for head, gate in zip(read.unbind(1), freed.unbind(1), strict=True):
        remaining = remaining * (1 - gate.unsqueeze(-1) * head)
    return remaining


def link(
    links: Links, precedence: Float[Tensor, "row slot"], writes: Float[Tensor, "row slot"]
) -> tuple[Links, Float[Tensor, "row slot"]]:
    """L(i, j) ← (1 − w(i) − w(j)) L(i, j) + w(i) p(j), without its diagonal, and p ← (1 − Σ w) p + w.

    Methods, "temporal memory linkage", of Graves et al. 2016: L(i, j) is how far slot i was written just after slot j.
    """
    after, before = writes.unsqueeze(-1), writes.unsqueeze(-2)
    linked = (1 - after - before) * links + after * precedence.unsqueeze(-2)
    linked = linked * (1 - torch.eye(writes.shape[-1], dtype=writes.dtype, device=writes.device))
    return linked, (1 - writes.sum(dim=-1, keepdim=True)) * precedence + writes
