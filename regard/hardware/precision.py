"""Support for bf16, detected by trying."""

import warnings

import torch
from torch import nn

from regard.base.faults import Fault


def check_cell(cell: str | None, precision: str, device: torch.device) -> None:
    """Refuse to train a cell in bf16 if torch cannot."""
    if device.type == "cpu" and precision == "bf16" and cell == "lstm" and not has_bf16_lstm(device):
        raise Fault(
            "training.precision is 'bf16', but on this CPU torch has no LSTM in bf16. "
            "Omit training.precision, or set model.cell to 'gru'."
        )


def has_bf16_lstm(device: torch.device) -> bool:
    """Return True if torch can run an LSTM in bf16 on this device, forward and backward.

    On some CPUs the library behind torch has no kernel for it, which shows only when it is called, and in training only
    at the first batch whose rows have equal lengths.
    """
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a slower kernel that replaces a missing one warns, and works
        try:
            with torch.autocast(device.type, torch.bfloat16):
                outputs, _ = nn.LSTM(1, 1, device=device)(torch.ones(2, 1, 1, device=device))
            outputs.sum().backward()
        except RuntimeError:
            return False
    return True
