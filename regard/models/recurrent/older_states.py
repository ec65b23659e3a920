"""Recurrent layers that reach further back than one step: clockwork layers with slow and fast units, and delays.

Both are tanh layers whose step reads the states of d steps ago through a matrix U_d for each delay d, and renews only
some units; always the first n_t of them, because units are ordered from fast to slow:

    h_t = tanh(W x_t + b + Σ_d U_d h_{t−d})    in the first n_t units
    h_t = h_{t−1}                              in the others

With the single delay 1 and all units renewed at every step, this is the vanilla cell. Before the first step all states
are zero.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.attention.editing import edited_units, is_edited
from regard.models.recurrent.layers import orthogonal_

States = Float[Tensor, "time batch width"]
Matrices = Float[Tensor, "delay width width"]


class Links(NamedTuple):
    """Connections between the steps of a layer: how far back it reads, and how many units each step renews."""

    delays: tuple[int, ...]  # in ascending order
    renewed: tuple[int, ...]  # units renewed by each step; the first renews all


def unroll_links(driven: States, matrices: Matrices, links: Links) -> States:
    """Return the states of all steps; `driven` is the contribution of the inputs, W x_t + b.

    Autograd would keep the tensors of every step. The states are enough, so the backward pass is written out.
    """
    return _Unrolled.apply(driven, matrices, links)


class _Unrolled(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, driven: Tensor, matrices: Tensor, links: Links) -> Tensor:
        states, width = driven.clone(), driven.shape[2]
        side_by_side = matrices.transpose(0, 1).flatten(1)  # U_d for all d in one product: fewer GPU launches
        for time, count in enumerate(links.renewed):
            now = states[time, :, :count]
            if older := [states[time - delay] for delay in links.delays if delay <= time]:
                inputs = older[0] if len(older) == 1 else torch.cat(older, dim=1)
                now.addmm_(inputs, side_by_side[:count, : inputs.shape[1]].mT)
            now.tanh_()
            if count < width:  # never at the first step
                states[time, :, count:] = states[time - 1, :, count:]
        context.links = links
        context.save_for_backward(states, matrices)
        return states

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor, None]:
        states, matrices = context.saved_tensors
        links: Links = context.links
        deltas = backpropagate_links(states, upstream, matrices, links).of_driven
        of_matrices = torch.zeros_like(matrices)
        for gradient, delay in zip(of_matrices, links.delays, strict=True):
            if delay < len(states):
                gradient.copy_(deltas[delay:].flatten(0, 1).mT @ states[:-delay].flatten(0, 1))
        return deltas, of_matrices, None


class LinkGradients(NamedTuple):
    """Gradients of a loss by every state, through later steps too, and by the contributions of the inputs."""

    of_states: States
    of_driven: States


@torch.no_grad()
def backpropagate_links(states: States, upstream: States, matrices: Matrices, links: Links) -> LinkGradients:
    """Compute gradients from the last step to the first; `upstream` is the loss's direct gradient by each state.

    δ_t = ∂L/∂h_t ⊙ (1 − h_t²) in the units that a step renews and 0 in the others, which pass ∂L/∂h_t on to t − 1;
    each delay adds U_dᵀ δ_t to ∂L/∂h_{t−d}.
    """
    gradients, slopes, width = upstream.contiguous().clone(), 1 - states.square(), states.shape[2]
    deltas = torch.zeros_like(states)
    for time in reversed(range(len(states))):
        count = links.renewed[time]
        delta = torch.mul(gradients[time, :, :count], slopes[time, :, :count], out=deltas[time, :, :count])
        older = [gradients[time - delay] for delay in links.delays if delay <= time]
        if len(older) == 1:
            older[0].addmm_(delta, matrices[0, :count])
        elif older:
            contributions = delta.expand(len(older), -1, -1) @ matrices[: len(older), :count]
            torch._foreach_add_(older, list(contributions))
        if count < width:
            gradients[time - 1, :, count:] += gradients[time, :, count:]
    return LinkGradients(gradients, deltas)


class LinkedLayer(nn.Module):
    """A layer with W, b and a matrix for each delay; subclasses say which steps renew which units."""

    edits = ("state",)
    delays: tuple[int, ...] = (1,)

    def __init__(self, depth: int, width: int, matrices: int) -> None:
        super().__init__()
        self.width = width
        self.of_input = nn.Parameter(torch.empty(width, depth))
        self.bias = nn.Parameter(torch.empty(width))
        self.of_states = nn.Parameter(torch.empty(matrices, width, width))
        nn.init.xavier_uniform_(self.of_input)
        nn.init.zeros_(self.bias)

    def links(self, length: int) -> Links:
        """Return the links between the steps of a sequence of this length."""
        return Links(self.delays, (self.width,) * length)

    def matrices(self) -> Matrices:
        """Return U_d for each delay."""
        return self.of_states

    def drive(self, inputs: Float[Tensor, "batch time depth"]) -> States:
        """Return W x_t + b for all steps."""
        return nn.functional.linear(inputs.transpose(0, 1), self.of_input, self.bias)

    def forward(self, inputs: Float[Tensor, "batch time depth"]) -> Float[Tensor, "batch time width"]:
        """Return the states of all steps, starting from zero."""
        driven, links = self.drive(inputs).contiguous(), self.links(inputs.shape[1])
        matrices = self.matrices().to(driven.dtype)
        if is_edited(self, "state"):
            return self._read_edited(driven, matrices, links).transpose(0, 1)
        return unroll_links(driven, matrices, links).transpose(0, 1)

    def _read_edited(self, driven: States, matrices: Matrices, links: Links) -> States:
        """Return the states of all steps, each edited before a later step reads it."""
        states: list[Tensor] = []
        for time, count in enumerate(links.renewed):
            sums = driven[time, :, :count]
            for delay, matrix in zip(links.delays, matrices, strict=True):
                if delay <= time:
                    sums = sums + states[time - delay] @ matrix[:count].mT
            state = sums.tanh() if count == self.width else torch.cat([sums.tanh(), states[-1][:, count:]], dim=1)
            states.append(edited_units(self, "state", state[:, None], time)[:, 0])
        return torch.stack(states)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a sequence of this length."""
        return sum(self._step(time, count) for time, count in enumerate(self.links(length).renewed))

    def _step(self, time: int, count: int) -> int:
        back = sum(time >= delay for delay in self.delays)
        return count * (self.of_input.shape[1] + back * self.width)


class Clockwork(LinkedLayer):
    """The clockwork RNN (Koutník et al. 2014): modules of equally many units, each with a period.

    At step t = 0, 1, … the modules whose period divides t are renewed; the others keep their states. A module reads
    modules of the same or longer periods, so U is block-triangular: fast modules do not disturb slow ones. The state of
    the slowest module survives as many steps as its period without passing any tanh.

    Departures: every period is a multiple of the one before it, as in the paper's own 1, 2, 4, …; and each module's
    diagonal block starts orthogonal, while blocks from slower modules are drawn as in the paper, N(0, 0.1²).
    """

    def __init__(self, depth: int, width: int, periods: Sequence[int]) -> None:
        super().__init__(depth, width, 1)
        self.periods, self.module_width = tuple(periods), width // len(periods)
        nn.init.normal_(self.of_states, std=0.1)
        for first in range(0, width, self.module_width):
            orthogonal_(self.of_states[0, first : first + self.module_width, first : first + self.module_width])

    def links(self, length: int) -> Links:
        renewed = (sum(time % period == 0 for period in self.periods) * self.module_width for time in range(length))
        return Links(self.delays, tuple(renewed))

    def matrices(self) -> Matrices:
        modules = torch.arange(self.width, device=self.of_states.device) // self.module_width
        return self.of_states * (modules[:, None] <= modules)

    def _step(self, time: int, count: int) -> int:
        """Return the multiplications of a step; a module reads its own units and those of all slower modules."""
        if not time:
            return count * self.of_input.shape[1]
        reads = sum(self.module_width * (self.width - first) for first in range(0, count, self.module_width))
        return count * self.of_input.shape[1] + reads


class Delays(LinkedLayer):
    """Connections from older states, as NARX networks have them (Lin et al. 1996; Zhang et al. 2016).

    h_t = tanh(W x_t + b + Σ_d U_d h_{t−d}). Through the longest delay d, a gradient goes from T back to k in about
    (T − k) / d steps instead of T − k, so it vanishes that much later.

    Every U_d starts orthogonal, divided by the number of delays, so that together they do not stretch the state.
    """

    def __init__(self, depth: int, width: int, delays: Sequence[int]) -> None:
        super().__init__(depth, width, len(delays))
        self.delays = tuple(delays)
        for matrix in self.of_states:
            orthogonal_(matrix)
        with torch.no_grad():
            self.of_states.mul_(1 / len(delays))
