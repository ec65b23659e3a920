"""Devices for training word vectors; their requirements are checked before any text is read."""

import torch

from regard.base.extras import refuse_without
from regard.base.faults import Fault
from regard.kernels import obstacle


def check_device(device: torch.device, loss: str) -> None:
    """Refuse a device on which a model with this loss cannot learn."""
    if device.type == "cpu":
        refuse_without("words", "Training word vectors on a CPU")
        return
    if loss in ("hierarchical", "softmax"):
        raise Fault(f"model.loss = '{loss}' is computed on a CPU only. Set training.device = 'cpu'.")
    if why := obstacle():
        raise Fault(f"Word vectors learn on a GPU by kernels, but {why}. Set training.device = 'cpu'.")
