"""Machines with a memory: laws for all of them, a memory operated by hand, and sparse access compared with dense."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.models.machines.addressing import cosines
from regard.models.machines.dnc import DNC, DNCOptions
from regard.models.machines.lstm import Lstm, LstmOptions
from regard.models.machines.ntm import NTM, NTMOptions
from regard.models.machines.sam import SAM, SAMOptions
from regard.models.machines.sparse import SparseMemory

SIZES: dict[str, int] = {"slots": 7, "depth": 3, "width": 5}
BUILDS = {
    "ntm": lambda seeds: NTM(NTMOptions(**SIZES, read_heads=2, write_heads=2), 4, 3, seeds),
    "ntm feed-forward": lambda seeds: NTM(NTMOptions(**SIZES, controller="feed-forward", reach=2), 4, 3, seeds),
    "ntm moved by numbers": lambda seeds: NTM(NTMOptions(**SIZES, reach=3, moves="number"), 4, 3, seeds),
    "dnc": lambda seeds: DNC(DNCOptions(**SIZES, read_heads=2), 4, 3, seeds),
    "sam": lambda seeds: SAM(SAMOptions(**SIZES, read_heads=2, nearest=3), 4, 3, seeds),
    "lstm": lambda seeds: Lstm(LstmOptions(layers=2, width=5), 4, 3, seeds),
}


def examples(members: int = 1, rows: int = 3, steps: int = 6) -> Tensor:
    chance = torch.Generator().manual_seed(1)
    return torch.rand(1, rows, steps, 4, generator=chance, dtype=torch.float64).expand(members, -1, -1, -1)


@pytest.mark.parametrize("build", BUILDS)
def test_a_member_of_a_stack_is_what_it_is_alone(build: str) -> None:
    stacked, alone = (BUILDS[build](seeds).double() for seeds in ((4, 5), (5,)))
    torch.testing.assert_close(stacked(examples(2))[1:], alone(examples()))


@pytest.mark.parametrize("build", BUILDS)
def test_a_later_input_changes_nothing_before_it(build: str) -> None:
    network, inputs = BUILDS[build]((1,)).double(), examples()
    changed = inputs.clone()
    changed[:, :, 4:] = 0
    torch.testing.assert_close(network(changed)[:, :, :4], network(inputs)[:, :, :4])
    assert not torch.allclose(network(changed)[:, :, 4:], network(inputs)[:, :, 4:])


@pytest.mark.parametrize("build", [name for name in BUILDS if name != "lstm"])
def test_an_address_is_a_distribution_over_the_slots(build: str) -> None:
    """A writing head's address may sum to less than one if a gate holds the write back."""
    network = BUILDS[build]((1, 2)).double()
    with regard.watching(network) as gazes:
        network(examples(2))
    (gaze,) = gazes
    assert (gaze.looks_from, gaze.looks_at) == ("steps", "slots")
    assert gaze.weights.shape == (3, len(network.head_names), 6, 7)
    assert gaze.weights.min() >= 0
    sums = gaze.weights.sum(dim=-1)
    assert sums.max() < 1 + 1e-6
    if not build.startswith("dnc"):  # before anything is written, the order of writing leads nowhere
        reads = sums[:, : sum(name.startswith("read") for name in network.head_names)]
        torch.testing.assert_close(reads, torch.ones_like(reads))


@pytest.mark.parametrize("build", BUILDS)
def test_a_memory_of_more_slots_needs_no_other_weights_and_steps_have_a_cost(build: str) -> None:
    network = BUILDS[build]((1,))
    assert network.multiplications() > sum(
        parameter[0].numel() for parameter in network.parameters() if parameter.dim() == 3
    )
    if build != "lstm":
        sizes = network.options.model_dump() | {"slots": 50}
        larger = type(network)(type(network.options)(**sizes), 4, 3, (1,))
        larger.load_state_dict(network.state_dict())
        assert larger.multiplications() > network.multiplications()
        torch.testing.assert_close(network(examples().float(), slots=50), larger(examples().float()))


def tell(network: nn.Module, **wanted: list[float]) -> Tensor:
    """Return instructions for the heads; those not named are zero."""
    return torch.tensor([[value for part in wanted.values() for value in part]])


def test_a_turing_machine_told_by_hand_writes_steps_on_and_reads_back() -> None:
    """One reading and one writing head: write (1, −1) to the second slot, then read there by content."""
    network, large = NTM(NTMOptions(slots=4, depth=2, width=3), 1, 1), 50.0
    onward = [-large, -large, large]
    stay = [-large, large, -large]
    write = {"keys": [0.0] * 4, "strengths": [0.0, 0.0], "gates": [-large, -large], "shifts": [*stay, *onward]}
    instructions = tell(network, **write, powers=[0.0, 0.0], erase=[large, large], add=[large, -large])
    read, state = network.access(instructions, network.start(1, 4, torch.zeros(1)))
    torch.testing.assert_close(state.addresses[0], torch.eye(4)[[0, 1]])
    torch.testing.assert_close(state.memory[0, 1], torch.tensor([1.0, -1.0]))
    assert state.memory[0, [0, 2, 3]].abs().max() < 1e-5
    find = {"keys": [large, -large, 0.0, 0.0], "strengths": [large, 0.0], "gates": [large, -large]}
    instructions = tell(network, **find, shifts=[*stay, *stay], powers=[large, 0.0], erase=[-large] * 2, add=[0.0] * 2)
    read, state = network.access(instructions, state)
    torch.testing.assert_close(read[0, 0], torch.tensor([1.0, -1.0]))


def test_heads_told_a_number_move_that_far() -> None:
    """With reach 3 and tanh, a third of the way is atanh(1/3) and two thirds and a half slot atanh(2.5/3)."""
    network, large = NTM(NTMOptions(slots=8, depth=1, width=3, reach=3, moves="number"), 1, 1), 50.0
    moves = torch.tensor([-1 / 3, 2.5 / 3]).atanh().tolist()
    sharp = {"powers": [0.0, -large], "erase": [0.0], "add": [0.0]}
    told = tell(network, keys=[0.0] * 2, strengths=[0.0] * 2, gates=[-large] * 2, moves=moves, **sharp)
    _, state = network.access(told, network.start(1, 8, torch.zeros(1)))
    torch.testing.assert_close(state.addresses[0], torch.stack([torch.eye(8)[7], torch.eye(8)[2:4].mean(0)]))


@pytest.mark.parametrize(("training", "bound", "is_cut"), [(True, 1e-3, True), (False, 1e-3, False), (True, 0, False)])
def test_only_training_cuts_the_gradients_of_moves(training: bool, bound: float, is_cut: bool) -> None:
    """The head moves by 3 tanh(x) slots, with the derivative 3 at x = 0, and its address is multiplied by a hundred."""
    options = NTMOptions(slots=8, depth=1, width=3, reach=3, moves="number", move_gradient=bound)
    network = NTM(options, 1, 1).train(training)
    told = torch.zeros(1, 2, requires_grad=True)
    addresses = network._move(torch.eye(8)[[0, 4]].unsqueeze(0), told)
    (100 * addresses[..., [0, 4]]).sum().backward()
    assert told.grad is not None
    assert told.grad.abs().max().item() == pytest.approx(3e-3 if is_cut else 300)


def test_an_lstm_is_what_torch_has() -> None:
    """In float64. Torch orders the gates differently and keeps a layer's two maps apart."""
    ours, theirs = BUILDS["lstm"]((1,)).double(), nn.LSTM(4, 5, num_layers=2, batch_first=True).double()
    order = torch.cat([torch.arange(10), torch.arange(15, 20), torch.arange(10, 15)])  # from i, f, o, u to i, f, u, o
    with torch.no_grad():
        for layer, recurrent in enumerate(ours.layers.recurrent):
            layer_map = ours.layers.given if layer == 0 else recurrent
            above = recurrent.weight[0] if layer == 0 else recurrent.weight[0, 5:]
            getattr(theirs, f"weight_ih_l{layer}").copy_(
                (layer_map.weight[0] if layer == 0 else layer_map.weight[0, :5]).T[order]
            )
            getattr(theirs, f"weight_hh_l{layer}").copy_(above.T[order])
            getattr(theirs, f"bias_ih_l{layer}").copy_(layer_map.bias[0].uniform_(-1, 1)[order])
            getattr(theirs, f"bias_hh_l{layer}").zero_()
        expected = theirs(examples()[0])[0] @ ours.output.weight[0] + ours.output.bias[0]
    torch.testing.assert_close(ours(examples())[0], expected)


def dense_step(network: SAM, told: Tensor, state: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
    """Take a sparse-access step in dense form, reading every slot: equations 5 and 6 of Rae et al. 2016."""
    depth = network.options.depth
    key, strength, add, amount, again = told.split([depth, 1, depth, 1, 1], dim=-1)
    unused = torch.nn.functional.one_hot(state["last"].argmin(1), network.options.slots).to(told)
    weights = amount.sigmoid() * (again.sigmoid() * state["read"] + (1 - again.sigmoid()) * unused)
    memory = state["memory"] * (1 - unused.unsqueeze(-1)) + weights.unsqueeze(-1) * add.unsqueeze(1)
    scores = (1 + torch.nn.functional.softplus(strength)).unsqueeze(-1) * cosines(key.unsqueeze(1), memory)
    read = scores.softmax(dim=-1).squeeze(1)
    used = (weights > 0.005) | (read > 0.005)
    last = torch.where(used, state["step"], state["last"])
    contents = (read.unsqueeze(1) @ memory).squeeze(1)
    return contents, {"memory": memory, "read": read, "last": last, "step": state["step"] + 1}


def test_sparse_access_to_all_slots_is_dense_access_and_so_are_its_gradients() -> None:
    options = SAMOptions(slots=5, depth=3, width=4, nearest=5)
    network = SAM(options, 4, 3).double()
    chance = torch.Generator().manual_seed(2)
    instructions = torch.randn(8, 2, 3 + 1 + 3 + 1 + 1, generator=chance, dtype=torch.float64)
    results = []
    for is_sparse in (True, False):
        leaf = instructions.clone().requires_grad_()
        sparse = network.start(2, 5, instructions)
        dense = {
            "memory": torch.zeros(2, 5, 3, dtype=torch.float64),
            "read": torch.full((2, 5), 0.2, dtype=torch.float64),
            "last": torch.arange(-5, 0).expand(2, -1),
            "step": 0,
        }
        reads = []
        for step in leaf:
            if is_sparse:
                read, sparse = network.access(step, sparse)
                reads.append(read.squeeze(1))
            else:
                read, dense = dense_step(network, step, dense)
                reads.append(read)
        outputs = torch.stack(reads)
        (outputs * torch.arange(1.0, 4.0)).square().sum().backward()
        results.append((outputs.detach(), leaf.grad))
    torch.testing.assert_close(*results)


def test_a_sparse_memory_keeps_a_few_slots_for_the_backward_pass_however_many_there_are() -> None:
    assert kept_for_backward(slots=64) == kept_for_backward(slots=6400)


def kept_for_backward(slots: int) -> int:
    """Return how many numbers a pass over ten steps keeps for its gradients."""
    network, sizes = SAM(SAMOptions(slots=slots, depth=8, width=4, nearest=2), 4, 3), []

    def keep(saved: Tensor) -> Tensor:
        sizes.append(saved.numel())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
        network(examples(steps=10).float())
    return sum(sizes)


def test_what_is_cleared_has_no_gradient_and_a_place_named_twice_adds() -> None:
    memory = SparseMemory(1, 3, 1, torch.zeros(1))
    first, second = (torch.tensor([[[value]]], requires_grad=True) for value in (2.0, 3.0))
    token = memory.write(torch.tensor([0]), torch.tensor([[1, 1]]), first.expand(1, 2, 1), memory.start())
    before, token = memory.read(torch.tensor([[1]]), token)
    token = memory.write(torch.tensor([1]), torch.tensor([[2]]), second, token)
    after, token = memory.read(torch.tensor([[1, 2]]), token)
    assert (before.item(), after.flatten().tolist()) == (4.0, [0.0, 3.0])
    (before.sum() + 10 * after.sum()).backward()
    assert (first.grad.item(), second.grad.item()) == (2.0, 10.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (lambda: NTMOptions(slots=4, reach=2), "reach = 2 would go around a memory of 4 slots"),
        (lambda: SAMOptions(slots=4, nearest=5), "nearest = 5 is more than the 4 slots"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(options: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        options()
