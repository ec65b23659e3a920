"""The optimisers: what decays, and what comes back after a checkpoint."""

import pytest
import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.training import optimizers
from regard.training.options import OptimizerOptions


def module() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2)


def test_only_matrices_decay() -> None:
    """With no gradient AdamW shrinks a matrix by rate times decay, and leaves vectors alone."""
    linear = module()
    optimizer = optimizers.build(linear, check(OptimizerOptions, {"kind": "adamw", "weight_decay": 0.5}))
    weight, bias = linear.weight.detach().clone(), linear.bias.detach().clone()
    for parameter in linear.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizers.step(optimizer, 0.1)
    torch.testing.assert_close(linear.weight.detach(), weight * (1 - 0.1 * 0.5))
    assert torch.equal(linear.bias, bias)


def test_plain_adam_refuses_to_decay() -> None:
    with pytest.raises(Fault, match="weight_decay needs kind = 'adamw'"):
        check(OptimizerOptions, {"weight_decay": 0.1})


def test_the_memory_survives_as_tensors() -> None:
    def trained(steps: int, other: torch.optim.Optimizer | None = None, linear: nn.Module | None = None):
        linear = linear or module()
        optimizer = other or optimizers.build(linear, OptimizerOptions())
        for step in range(steps):
            linear(torch.full((1, 3), 1.0 + step)).sum().backward()
            optimizers.step(optimizer, 0.1)
            optimizer.zero_grad()
        return linear, optimizer

    linear, optimizer = trained(3)
    copy = module()
    copy.load_state_dict(linear.state_dict())
    again = optimizers.build(copy, OptimizerOptions())
    optimizers.load_state_tensors(again, {k: v.clone() for k, v in optimizers.state_tensors(optimizer).items()})
    trained(2, optimizer, linear)
    trained(2, again, copy)
    for one, two in zip(linear.parameters(), copy.parameters(), strict=True):
        assert torch.equal(one, two)


def test_the_mean_gradient_is_the_sum_over_the_count() -> None:
    linear = module()
    linear.weight.grad = torch.full((2, 3), 6.0)
    norm = optimizers.scale_gradients(linear, 3, clip=0.0)
    assert torch.equal(linear.weight.grad, torch.full((2, 3), 2.0))
    assert norm.item() == pytest.approx(2 * 6**0.5)
    optimizers.scale_gradients(linear, 1, clip=1.0)
    assert linear.weight.grad.norm().item() == pytest.approx(1.0, abs=1e-5)
