"""Weights with which int8 products are exact on every CPU."""

import torch
from torch import nn


@torch.no_grad()
def spare(network: nn.Module) -> None:
    """Change the matrices of a network so that no sum of its int8 products overflows.

    An x86 CPU without VNNI multiplies states of up to 255 by weights of up to 127, and adds neighbouring products in
    16 bits. There is room for two weights of 128 together. So the largest weight of a row, which its scale turns into
    127, stands among zeros, and the others are less than half as large. Exactly half is a tie in rounding.

    0.45 is a share at which no state of the tests lies at such a tie, where engines may round either way.
    """
    for weight in network.parameters():
        if weight.dim() == 2:
            largest = weight.abs().amax(1, keepdim=True)
            first = largest[:, 0].copysign(weight[:, 0])
            weight.copy_(weight.clamp(-0.45 * largest, 0.45 * largest))
            weight[:, :4] = 0
            weight[:, 0] = first
