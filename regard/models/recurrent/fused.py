"""Weights for torch's fused recurrent functions, for callers that bring their own."""

import torch
from torch import Tensor


def end_to_end(weights: list[Tensor]) -> list[Tensor]:
    """Return the weights of a layer in one piece of memory, as cuDNN requires: matrices first, then biases."""
    if not weights[0].is_cuda:
        return weights
    order = sorted(range(len(weights)), key=lambda number: -weights[number].dim())
    whole = torch.cat([weights[number].flatten() for number in order])
    parts = dict(zip(order, whole.split([weights[number].numel() for number in order]), strict=True))
    return [parts[number].view(weight.shape) for number, weight in enumerate(weights)]
