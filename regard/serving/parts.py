"""The parts of a network as steps, between which a server may let others pass."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from regard.base.pauses import beside_pauses, between_steps

_LONG = 256  # places of a sequence; a recurrent layer reads as many in some hundredths of a second


def pause_between_parts(task: Any) -> None:
    """Make each part of a network that works on the CPU a step of its own, so that others may pass a long input.

    Recurrent layers read a sequence in a single step, so long sequences are read beside the pauses. A GPU is done with
    a pass soon, and steps that are captured for it must not be interrupted.
    """
    if not isinstance(task, nn.Module) or any(weight.device.type != "cpu" for weight in task.parameters()):
        return
    for part in task.modules():
        part.register_forward_pre_hook(lambda *given: between_steps())
        if isinstance(part, nn.RNNBase):
            part.forward = partial(_read_beside, part, part.forward)


def _read_beside(layer: nn.RNNBase, read: Callable[..., Any], given: torch.Tensor | PackedSequence, *more: Any) -> Any:
    """Return what a recurrent layer reads, beside the pauses if that takes long."""
    if isinstance(given, PackedSequence):
        length = len(given.batch_sizes)
    else:
        length = given.shape[1 if layer.batch_first and given.ndim == 3 else 0]
    if length < _LONG:
        return read(given, *more)
    has_gradients = torch.is_grad_enabled()  # which each thread decides for itself

    def work() -> Any:
        with torch.set_grad_enabled(has_gradients):
            return read(given, *more)

    return beside_pauses(work)
