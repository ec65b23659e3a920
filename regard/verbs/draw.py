"""Drawing: pictures or strokes from nothing."""

from collections.abc import Iterator
from typing import Any

import torch

from regard.protocols import Drawn
from regard.verbs.requests.draw import DrawRequest

AT_ONCE = 64  # drawings in one batch


def draw_each(task: Any, request: DrawRequest) -> Iterator[Drawn]:
    """The drawings of a request, as soon as each batch of them is done.

    The chance is drawn on the CPU, one drawing after the other, so that the first of many is that of a few, on any
    device.
    """
    chance = torch.Generator().manual_seed(request.seed)
    for first in range(0, request.count, AT_ONCE):
        yield from task.draw(min(AT_ONCE, request.count - first), chance)
