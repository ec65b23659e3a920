"""A forward and backward pass over a batch: its loss, and its gradients added to the existing ones.

On a GPU a batch of fixed shape uses a captured pass, which is replayed for every batch of that shape: one launch
instead of a thousand, since the GPU computes faster than Python can launch. Capturing a pass takes as long as many
plain ones, so a shape is captured when it comes for the second time, and capturing takes at most a quarter of the time.
Both ways give the same bits.
"""

import time
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.editing import is_observed
from regard.hardware.cuda_graphs import CapturedStep, leaves
from regard.protocols import FixedShape, Loss, map_tree
from regard.training.snapshot import Trainable

# The common shapes come early, and each captured pass needs its own memory.
MOST_CAPTURED = 128
LEFT_FREE = 0.25  # fraction of a GPU's memory
RECORDING = 0.25  # largest fraction of the time since the first pass


class Passes:
    """The passes of one module that is a task; `precision` is that of `training.precision`.

    Passes over sharded weights, which come and go in memory, cannot be captured.
    """

    def __init__(self, task: Trainable, module: nn.Module, precision: str, sharded: bool = False) -> None:
        self.sharded = sharded
        self.device = next(module.parameters()).device
        self._task, self.parameters = task, [parameter for parameter in module.parameters() if parameter.requires_grad]
        self._bf16 = precision == "bf16" or (precision == "auto" and self.device.type == "cuda")
        self._captured: dict[Hashable, tuple[CapturedStep, Loss]] = {}
        self._pool: Any = None
        self._seen: set[Hashable] = set()  # shapes that came at least once
        self._began: float | None = None  # time of the first pass, by the monotonic clock
        self.capture_seconds = 0.0  # seconds spent on capturing passes, which are then replayed many times

    @property
    def capturing(self) -> bool:
        """True if gradients must keep their place in memory, so that they are zeroed and never dropped."""
        return bool(self._captured)

    def __call__(self, batch: Any, carry: dict[str, Tensor] | None) -> Loss:
        """Return the loss of this batch, and add its gradients to the existing ones.

        While something is watched or edited, no pass is captured or replayed.
        """
        if self.device.type == "cuda" and isinstance(batch, FixedShape) and not self.sharded and not is_observed():
            return self.replay(batch, carry)
        return self.plainly(batch, carry)

    def plainly(self, batch: Any, carry: dict[str, Tensor] | None) -> Loss:
        """Run the pass with every launch made by Python."""
        loss = self.forward(batch, carry)
        loss.total.backward()
        # Release the graph of the loss: a capture fails while another stream's backward graph is alive.
        return replace(loss, total=loss.total.detach())

    def forward(self, batch: Any, carry: dict[str, Tensor] | None) -> Loss:
        """Return the loss of this batch, with its graph for gradients."""
        with self._precision():
            return self._task.loss(batch, carry)

    def replay(self, batch: FixedShape, carry: dict[str, Tensor] | None = None) -> Loss:
        """Run the pass by replaying a captured one."""
        carried_in = carry or {}
        key = batch.room, _shapes(batch.tensors), _shapes(carried_in)
        if key not in self._captured:
            if not self._may_capture(key):
                return self.plainly(batch, carry)
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)  # work in progress is not part of the capture
            began = time.monotonic()
            self._captured[key] = self._capture(batch, carry)
            self.capture_seconds += time.monotonic() - began
        captured, first = self._captured[key]
        tree = captured.held
        torch._foreach_copy_(leaves(tree["batch"]), leaves(batch.tensors), non_blocking=True)
        if carried_in:
            torch._foreach_copy_(leaves(tree["given"]), leaves(carried_in))
        captured()
        sums, carried = map_tree(torch.clone, (tree["sums"], tree["carried"]))
        tallies = {name: replace(tally, sums=tuple(sums[name].unbind())) for name, tally in first.tallies.items()}
        return Loss(tree["total"].clone(), batch.count, tallies, carried or None, first.rate)

    def _may_capture(self, key: Hashable) -> bool:
        """Return True if capturing a pass of this shape now pays off, and leaves enough memory free."""
        if self.device.type == "cuda":
            if not self._pays(key):
                return False
            free, whole = torch.cuda.mem_get_info(self.device)
            idle = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
            if free + idle < LEFT_FREE * whole:
                return False
        return len(self._captured) < MOST_CAPTURED

    def _pays(self, key: Hashable) -> bool:
        """Return True for a shape that came before, unless capturing has already taken too much of the time."""
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        came_before = key in self._seen
        self._seen.add(key)
        return came_before and self.capture_seconds <= RECORDING * (now - self._began)

    def forget(self) -> None:
        """Drop all captured passes and their memory."""
        self._captured.clear()
        self._pool = None

    def _capture(self, batch: FixedShape, carry: dict[str, Tensor] | None) -> tuple[CapturedStep, Loss]:
        """Capture the pass, and return it with one of its losses; gradients and random state stay unchanged."""
        for parameter in self.parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        before = [gradient.clone() for gradient in gradients]
        on_gpu = self.device.type == "cuda"
        chance = torch.cuda.get_rng_state(self.device) if on_gpu else torch.get_rng_state()
        if on_gpu and self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()

        def step(tree: dict[str, Any]) -> dict[str, Any]:
            with self._precision():
                loss = self._task.loss(batch.holding(tree["batch"]), tree["given"] or None)
            _add(gradients, torch.autograd.grad(loss.total, self.parameters, allow_unused=True))
            return tree | self._results(loss)

        with torch.no_grad(), self._precision():
            loss = self._task.loss(batch, carry)
        tree = {"batch": batch.tensors, "given": carry or {}} | self._results(loss)
        captured = CapturedStep(step, tree, self._pool)
        torch._foreach_copy_(gradients, before)
        if on_gpu:
            torch.cuda.set_rng_state(chance, self.device)
        else:
            torch.set_rng_state(chance)
        return captured, loss

    def _results(self, loss: Loss) -> dict[str, Any]:
        """Return the results of a pass as tensors, which a captured pass can hold."""
        sums = {
            name: torch.stack([_as_tensor(number, self.device) for number in tally.sums])
            for name, tally in loss.tallies.items()
        }
        carried = {name: tensor.detach() for name, tensor in (loss.carry or {}).items()}
        return {"total": loss.total.detach().float(), "sums": sums, "carried": carried}

    def _precision(self) -> AbstractContextManager:
        return torch.autocast(self.device.type, torch.bfloat16) if self._bf16 else nullcontext()


def _shapes(tree: Any) -> tuple[torch.Size, ...]:
    return tuple(leaf.shape for leaf in leaves(tree))


def _as_tensor(number: Tensor | float, device: torch.device) -> Tensor:
    # Fill in a number instead of copying it from the host, which a graph could not repeat.
    return number.detach().float() if isinstance(number, Tensor) else torch.full((), number, device=device)


def _add(sums: list[Tensor], gradients: Sequence[Tensor | None]) -> None:
    """Add the gradients to the sums in a few launches; `backward` would take one for each parameter."""
    pairs = [(total, part) for total, part in zip(sums, gradients, strict=True) if part is not None]
    torch._foreach_add_([total for total, _ in pairs], [part for _, part in pairs])
