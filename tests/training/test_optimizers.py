"""Optimisers: what decays, and what a checkpoint restores."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.recipe import check, parse, write
from regard.training import optimizers
from regard.training.guards import OptimizersAverage
from regard.training.options import OWN_OPTIONS, OptimizerOptions, TrainingOptions


def module() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2)


def test_only_matrices_decay() -> None:
    """Without a gradient AdamW shrinks a matrix by rate times decay and leaves vectors unchanged."""
    linear = module()
    optimizer = optimizers.build(linear, check(OptimizerOptions, {"kind": "adamw", "weight_decay": 0.5}))
    weight, bias = linear.weight.detach().clone(), linear.bias.detach().clone()
    for parameter in linear.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizers.step(optimizer, 0.1)
    torch.testing.assert_close(linear.weight.detach(), weight * (1 - 0.1 * 0.5))
    assert torch.equal(linear.bias, bias)


@pytest.mark.parametrize("kind", ["adam", "sgd", "adagrad", "rmsprop", "asgd"])
def test_the_others_add_the_weights_to_the_gradient(kind: str) -> None:
    """L2: with a decay of 0.5 and no gradient, the gradient is half the weights, vectors included."""
    decayed, pulled = module(), module()
    for linear, decay in ((decayed, 0.5), (pulled, 0.0)):
        for parameter in linear.parameters():
            parameter.grad = torch.zeros_like(parameter) if decay else 0.5 * parameter.detach()
        optimizers.step(optimizers.build(linear, check(OptimizerOptions, {"kind": kind, "weight_decay": decay})), 0.1)
    for one, two, before in zip(decayed.parameters(), pulled.parameters(), module().parameters(), strict=True):
        torch.testing.assert_close(one, two)
        assert (one != before).all()


@pytest.mark.parametrize(
    "table",
    [
        *({"kind": kind} for kind in OWN_OPTIONS),
        {"kind": "sgd", "momentum": 0.5},
        {"kind": "rmsprop", "momentum": 0.5, "centred": True},
    ],
    ids=str,
)
def test_so_many_numbers_are_remembered_of_each_weight(table: dict[str, Any]) -> None:
    linear, options = module(), check(OptimizerOptions, table)
    for parameter in linear.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer = optimizers.build(linear, options)
    optimizers.step(optimizer, 0.1)
    tensors = [tensor for tensor in optimizers.state_tensors(optimizer).values() if tensor.shape == linear.weight.shape]
    assert len(tensors) == optimizers.numbers_per_weight(options)


def test_a_step_of_each_is_what_its_paper_says() -> None:
    """The weight is 1, the gradients are 2 and then 4, and the rate is 0.1."""
    for table, expected in [
        ({"kind": "sgd"}, 1 - 0.1 * 2 - 0.1 * 4),
        ({"kind": "sgd", "momentum": 0.5}, 1 - 0.1 * 2 - 0.1 * (4 + 0.5 * 2)),
        ({"kind": "sgd", "momentum": 0.5, "nesterov": True}, 1 - 0.1 * (2 + 0.5 * 2) - 0.1 * (4 + 0.5 * 5)),
        ({"kind": "adagrad"}, 1 - 0.1 * 2 / 2 - 0.1 * 4 / 20**0.5),
        ({"kind": "adagrad", "first_sum": 5.0}, 1 - 0.1 * 2 / 3 - 0.1 * 4 / 5),
        ({"kind": "rmsprop", "smoothing": 0.0}, 1 - 0.1 - 0.1),
        ({"kind": "asgd"}, 1 - 0.1 * 2 - 0.1 * 4),
    ]:
        one = nn.Linear(1, 1, bias=False)
        nn.init.ones_(one.weight)
        optimizer = optimizers.build(one, check(OptimizerOptions, table))
        for gradient in (2.0, 4.0):
            one.weight.grad = torch.full((1, 1), gradient)
            optimizers.step(optimizer, 0.1)
        assert one.weight.item() == pytest.approx(expected), table


def test_the_mean_weights_of_asgd_stand_in_for_the_last_ones() -> None:
    """Averaged from the first step: 1 - 0.2 and 1 - 0.6 have the mean 0.6, at the rate of the step."""
    one = nn.Linear(1, 1, bias=False)
    nn.init.ones_(one.weight)
    optimizer = optimizers.build(one, check(OptimizerOptions, {"kind": "asgd"}))
    for gradient, rate in ((2.0, 0.1), (4.0, 0.1)):
        one.weight.grad = torch.full((1, 1), gradient)
        optimizers.step(optimizer, rate)
    with OptimizersAverage(optimizer).standing_in():
        assert one.weight.item() == pytest.approx(0.6)
    assert one.weight.item() == pytest.approx(0.4)
    one.weight.grad = torch.ones(1, 1)
    optimizers.step(optimizer, 0.3)
    assert one.weight.item() == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"momentum": 0.9}, "momentum belongs to sgd and rmsprop; adam has beta1, beta2, epsilon"),
        ({"kind": "sgd", "beta1": 0.9}, "beta1 belongs to adam and adamw; sgd has momentum, nesterov"),
        ({"kind": "asgd", "first_sum": 1.0}, "first_sum belongs to adagrad; asgd has average_from"),
        ({"kind": "sgd", "nesterov": True}, "nesterov needs momentum, which is 0"),
        ({"kind": "sdg"}, "kind is 'sdg', expected one of 'adam', 'adamw', 'sgd', 'adagrad', 'rmsprop', 'asgd'"),
        ({"kind": 3}, "kind is 3, expected one of"),
    ],
)
def test_an_option_of_another_optimiser_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(OptimizerOptions, table)


def test_two_beginnings_of_an_average_are_refused() -> None:
    with pytest.raises(Fault, match="average_from and average_trigger both say when averaging begins"):
        check(OptimizerOptions, {"kind": "asgd", "average_from": 5, "average_trigger": 5})


def test_an_average_of_an_average_is_refused() -> None:
    with pytest.raises(Fault, match="moving_average does not work with the optimiser asgd"):
        check(TrainingOptions, {"moving_average": 0.9, "optimizer": {"kind": "asgd"}})


@pytest.mark.parametrize("kind", OWN_OPTIONS)
def test_what_is_written_out_is_read_again(kind: str) -> None:
    """Each optimiser writes out the defaults of its own options and omits those of the others."""
    chosen = check(OptimizerOptions, {"kind": kind})
    table = parse(write(chosen, "An optimiser"), "of the optimiser")
    assert OWN_OPTIONS[kind].items() <= table.items()
    assert check(OptimizerOptions, table) == chosen


@pytest.mark.parametrize("kind", ["sgd", "adagrad"])
def test_sparse_gradients_do_what_dense_ones_do(kind: str) -> None:
    """Rows that occur twice count twice in the norm, and the clipped steps are equal."""
    norms, tables = [], []
    for sparse in (True, False):
        torch.manual_seed(0)
        table = nn.Embedding(5, 3, sparse=sparse)
        options = check(OptimizerOptions, {"kind": kind, "clip": 0.5})
        optimizer = optimizers.build(table, options)
        for _ in range(2):
            optimizer.zero_grad()
            (table(torch.tensor([1, 3, 3, 1, 0])) * torch.arange(1.0, 6.0)[:, None]).sum().backward()
            optimizers.check_sparse(optimizer, options)
            norms.append(optimizers.scale_gradients(table, 2, options.clip).item())
            optimizers.step(optimizer, 0.1)
        tables.append(table.weight.detach())
    assert norms == pytest.approx([(3 * (5**2 + 5**2 + 5**2)) ** 0.5 / 2] * 4)
    torch.testing.assert_close(tables[0], tables[1])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "training.optimizer.kind is 'adam', which cannot use the sparse gradients .* Choose 'sgd' or 'adagrad'"),
        ({"kind": "sgd", "momentum": 0.9}, "momentum does not work with this model's sparse gradients"),
        ({"kind": "adagrad", "weight_decay": 0.1}, "weight_decay does not work with this model's sparse"),
    ],
)
def test_sparse_gradients_are_refused_where_they_would_fail(table: dict[str, Any], words: str) -> None:
    embedding = nn.Embedding(5, 3, sparse=True)
    embedding(torch.tensor([1])).sum().backward()
    options = check(OptimizerOptions, table)
    with pytest.raises(Fault, match=words):
        optimizers.check_sparse(optimizers.build(embedding, options), options)


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


def test_in_a_stack_each_member_is_clipped_by_itself() -> None:
    """The gradients (3, 4) and (0.3, 0.4) have norms 5 and 0.5. Clipping to 1 leaves the second unchanged."""
    stack = nn.ParameterList([torch.zeros(2), torch.zeros(2, 1, 1)])
    stack[0].grad, stack[1].grad = torch.tensor([3.0, 0.3]), torch.tensor([4.0, 0.4]).view(2, 1, 1)
    assert optimizers.scale_gradients(stack, 1, clip=1.0, is_stacked=True).item() == pytest.approx(2.75)
    assert stack[0].grad.tolist() == pytest.approx([0.6, 0.3], abs=1e-5)
    assert stack[1].grad.flatten().tolist() == pytest.approx([0.8, 0.4], abs=1e-5)
