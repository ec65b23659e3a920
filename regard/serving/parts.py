"""Pauses between the parts of a network, in which a server may work on other requests."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from regard.base.pauses import beside_pauses, between_steps

_LONG = 256  # length of a sequence that a recurrent layer reads in some hundredths of a second


def pause_between_parts(task: Any) -> None:
    """Make each part of a CPU network a separate step, so that other requests may overtake a long input.

    Recurrent layers read a sequence in a single step, so long sequences are read in another thread during the pauses. A
    GPU finishes a pass quickly, and its captured steps must not be interrupted.
    """
    if not isinstance(task, nn.Module) or any(weight.device.type != "cpu" for weight in task.parameters()):
        return
    for part in task.modules():
        part.register_forward_pre_hook(lambda *arguments: between_steps())
        if isinstance(part, nn.RNNBase):
            part.forward = partial(_read_beside, part, part.forward)


def _read_beside(
    layer: nn.RNNBase, read: Callable[..., Any], sequence: torch.Tensor | PackedSequence, *more: Any
) -> Any:
    """Run a recurrent layer; a long sequence is read in another thread, with pauses meanwhile."""
    if isinstance(sequence, PackedSequence):
        length = len(sequence.batch_sizes)
    else:
        length = sequence.shape[1 if layer.batch_first and sequence.ndim == 3 else 0]
    if length < _LONG:
        return read(sequence, *more)
    has_gradients = torch.is_grad_enabled()  # this is set per thread

    def work() -> Any:
        with torch.set_grad_enabled(has_gradients):
            return read(sequence, *more)

    return beside_pauses(work)
