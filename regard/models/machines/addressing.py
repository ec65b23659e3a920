"""Where heads look in a memory: by content, by a step from where they were, and how what they write is stored.

An address is a distribution over the slots, one for each head. What the functions are given and give has a row for each
memory; nothing here is learnt.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

SMALLEST_SQUARE = 1e-6  # of a length
SMALLEST_WEIGHT = 1e-16  # of a slot, so that it has a logarithm
SMALLEST_USAGE = 1e-6  # of a slot, for the same reason

Memory = Float[Tensor, "row slot depth"]
Addresses = Float[Tensor, "row head slot"]
Keys = Float[Tensor, "row head depth"]
Numbers = Float[Tensor, "row head"]
Links = Float[Tensor, "row slot slot"]


def cosines(
    keys: Float[Tensor, "*row head depth"], memory: Float[Tensor, "*row slot depth"]
) -> Float[Tensor, "*row head slot"]:
    """K[k, M(i)] = k·M(i) / (|k| |M(i)|), equation 6 of Graves et al. 2014, with |v| = √(v·v + SMALLEST_SQUARE).

    So a slot that is all but empty is near to no key, and has a gradient that is no larger than that of others.
    """
    of_keys, of_slots = ((each.square().sum(dim=-1) + SMALLEST_SQUARE).rsqrt() for each in (keys, memory))
    return keys @ memory.transpose(-2, -1) * of_keys.unsqueeze(-1) * of_slots.unsqueeze(-2)


def by_content(keys: Keys, strengths: Numbers, memory: Memory) -> Addresses:
    """w(i) = softmax over the slots of β K[k, M(i)], equation 5 of Graves et al. 2014."""
    return (strengths.unsqueeze(-1) * cosines(keys, memory)).softmax(dim=-1)


def interpolate(gates: Numbers, found: Addresses, before: Addresses) -> Addresses:
    """w_g = g w_c + (1 − g) w_{t−1}, equation 7 of Graves et al. 2014."""
    return torch.lerp(before, found, gates.unsqueeze(-1))


def shift(addresses: Addresses, steps: Float[Tensor, "row head step"]) -> Addresses:
    """w̃(i) = Σ_j w(i − j) s(j), slots in a circle, equation 8 of Graves et al. 2014.

    `steps` is how probable it is to go −n, …, 0, …, n slots on.
    """
    reach = steps.shape[-1] // 2
    around = torch.cat([addresses[..., -reach:], addresses, addresses[..., :reach]], dim=-1)
    windows = around.unfold(-1, steps.shape[-1], 1)  # of each slot, those from `reach` before it to `reach` behind it
    return (windows * steps.flip(-1).unsqueeze(-2)).sum(dim=-1)


def sharpen(addresses: Addresses, powers: Numbers) -> Addresses:
    """w(i) = w̃(i)^γ / Σ_j w̃(j)^γ, equation 9 of Graves et al. 2014.

    As softmax(γ log w̃), which is the same and does not divide by zero where all powers are too small for their numbers.
    """
    return (powers.unsqueeze(-1) * (addresses + SMALLEST_WEIGHT).log()).softmax(dim=-1)


def erase_and_add(memory: Memory, addresses: Addresses, erase: Keys, add: Keys) -> Memory:
    """M(i) ← M(i) Π_h [1 − w_h(i) e_h] + Σ_h w_h(i) a_h, equations 3 and 4 of Graves et al. 2014, of all heads."""
    for address, erased in zip(addresses.unbind(1), erase.unbind(1), strict=True):
        memory = memory * (1 - address.unsqueeze(-1) * erased.unsqueeze(-2))
    return torch.baddbmm(memory, addresses.transpose(1, 2), add)


def one_plus(numbers: Tensor) -> Tensor:
    """1 + log(1 + e^x), from 1 upwards."""
    return 1 + F.softplus(numbers)


def allocate(usage: Float[Tensor, "row slot"]) -> Float[Tensor, "row slot"]:
    """a(φ_j) = (1 − u(φ_j)) Π_{i<j} u(φ_i), φ the slots from the least used on, equation 1 of Graves et al. 2016.

    The product is taken of logarithms, whose gradient asks no number of a GPU; a usage of 0 counts as SMALLEST_USAGE.
    """
    ordered, order = usage.sort(dim=-1, stable=True)  # slots of equal usage in the same order on every device
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
    """u ← (u + w − u w) Π_h (1 − f_h w_h), w written and w_h read at the step before, f_h what head h sets free.

    Methods, "dynamic memory allocation", of Graves et al. 2016.
    """
    kept = torch.addcmul(usage + wrote, usage, wrote, value=-1)
    for head, gate in zip(read.unbind(1), freed.unbind(1), strict=True):
        kept = kept * (1 - gate.unsqueeze(-1) * head)
    return kept


def link(
    links: Links, precedence: Float[Tensor, "row slot"], writes: Float[Tensor, "row slot"]
) -> tuple[Links, Float[Tensor, "row slot"]]:
    """L(i, j) ← (1 − w(i) − w(j)) L(i, j) + w(i) p(j), without its diagonal, and p ← (1 − Σ w) p + w.

    Methods, "temporal memory linkage", of Graves et al. 2016: L(i, j) is how far slot i was written right after slot j.
    """
    to, since = writes.unsqueeze(-1), writes.unsqueeze(-2)
    linked = (1 - to - since) * links + to * precedence.unsqueeze(-2)
    linked = linked * (1 - torch.eye(writes.shape[-1], dtype=writes.dtype, device=writes.device))
    return linked, (1 - writes.sum(dim=-1, keepdim=True)) * precedence + writes
