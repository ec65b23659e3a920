"""Head addresses by hand: by content, from slot to slot, by writing, by free slots and by order of writing."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from regard.models.machines.addressing import (
    allocate,
    bound_gradient,
    by_content,
    erase_and_add,
    interpolate,
    link,
    move,
    sharpen,
    shift,
    use,
)

pytestmark = pytest.mark.usefixtures("float64")


@pytest.fixture
def float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def at(*slots: int, of: int = 5) -> Tensor:
    """Return one memory and heads, each at one of its slots."""
    return torch.eye(of)[list(slots)].unsqueeze(0)


def test_a_strong_key_picks_the_slot_that_it_is_like_and_a_weak_one_none() -> None:
    memory = torch.tensor([[[1.0, 0.0], [3.0, 3.0], [0.0, 2.0]]])
    keys = torch.tensor([[[0.0, 9.0], [1.0, 1.0]]])
    picked = by_content(keys, torch.full((1, 2), 500.0), memory)
    torch.testing.assert_close(picked, at(2, 1, of=3), atol=1e-9, rtol=0)
    torch.testing.assert_close(by_content(keys, torch.zeros(1, 2), memory), torch.full((1, 2, 3), 1 / 3))


def test_content_is_compared_by_angle_and_weighed_by_softmax() -> None:
    """For slots (3, 0) and (0, 1) a key (1, 0) has cosines 1 and 0."""
    weights = by_content(torch.tensor([[[1.0, 0.0]]]), torch.ones(1, 1), torch.tensor([[[3.0, 0.0], [0.0, 1.0]]]))
    torch.testing.assert_close(weights[0, 0], torch.tensor([1.0, 0.0]).softmax(0), atol=1e-6, rtol=0)


def test_a_gate_chooses_between_what_was_found_and_where_a_head_was() -> None:
    gates = torch.tensor([[0.0, 1.0, 0.25]])
    mixed = interpolate(gates, at(1, 1, 1), at(3, 3, 3))
    torch.testing.assert_close(mixed, torch.stack([at(3)[0], at(1)[0], 0.25 * at(1)[0] + 0.75 * at(3)[0]], dim=1))


def test_a_shift_by_one_is_exact_and_slots_are_a_circle() -> None:
    onward, back, stay = torch.eye(3)[[2]], torch.eye(3)[[0]], torch.eye(3)[[1]]
    assert torch.equal(shift(at(4), onward[None]), at(0))
    assert torch.equal(shift(at(0), back[None]), at(4))
    assert torch.equal(shift(at(2), stay[None]), at(2))
    spread = shift(at(2), torch.tensor([[[0.1, 0.7, 0.2]]]))
    torch.testing.assert_close(spread, torch.tensor([[[0.0, 0.1, 0.7, 0.2, 0.0]]]))


def test_a_number_moves_a_head_by_that_many_slots_and_a_fraction_is_shared() -> None:
    """The example of Graves et al. 2014, section 3.3.2: a move by 6.7 slots is one by 6 at 0.3 and one by 7 at 0.7."""
    moved = move(at(1, 1, 1, 3, of=10), torch.tensor([[6.7, 0.0, -3.25, 7.0]]))
    expected = [0.3 * at(7, of=10) + 0.7 * at(8, of=10), at(1, of=10), 0.25 * at(7, of=10) + 0.75 * at(8, of=10)]
    torch.testing.assert_close(moved, torch.cat([*expected, at(0, of=10)], dim=1))


def test_a_move_is_the_shift_whose_two_probabilities_share_it() -> None:
    addresses, moves = torch.rand(2, 3, 9).softmax(-1), torch.tensor([[-3.9, 0.4, 2.2], [1.5, -0.1, 3.6]])
    shares = (1 - (moves.unsqueeze(-1) - torch.arange(-4, 5)).abs()).clamp(min=0)
    torch.testing.assert_close(move(addresses, moves), shift(addresses, shares))
    assert torch.autograd.gradcheck(move, (addresses.requires_grad_(), moves.requires_grad_()))


def test_a_gradient_is_cut_on_its_way_back_and_the_move_stays() -> None:
    moves = torch.tensor([[0.5, -2.0, 7.0]], requires_grad=True)
    cut = bound_gradient(moves, 1.0)
    assert cut.tolist() == moves.tolist()
    (cut * torch.tensor([3.0, -0.25, -40.0])).sum().backward()
    assert moves.grad is not None
    assert moves.grad.tolist() == [[1.0, -0.25, -1.0]]


def test_sharpening_raises_to_a_power_and_never_divides_by_zero() -> None:
    blurred = torch.tensor([[[0.1, 0.7, 0.2]]])
    torch.testing.assert_close(sharpen(blurred, torch.ones(1, 1)), blurred)
    squares = blurred.square()
    torch.testing.assert_close(sharpen(blurred, torch.full((1, 1), 2.0)), squares / squares.sum())
    flat = torch.full((1, 1, 4), 0.25, dtype=torch.float32)
    assert torch.equal(sharpen(flat, torch.full((1, 1), 1000.0, dtype=torch.float32)), flat)


def test_heads_step_through_a_memory_and_stay_exact_over_a_hundred_steps() -> None:
    """With a gate of 0, a shift of one and powers of 1, a head counts slots."""
    addresses, onward = at(0), torch.tensor([[[0.0, 0.0, 1.0]]])
    for step in range(1, 101):
        before = interpolate(torch.zeros(1, 1), torch.full((1, 1, 5), 0.2), addresses)
        addresses = sharpen(shift(before, onward), torch.ones(1, 1))
        torch.testing.assert_close(addresses, at(step % 5), atol=1e-12, rtol=0)


def test_erasing_and_adding_by_hand_with_two_heads() -> None:
    memory = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    addresses = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    erase = torch.tensor([[[1.0, 0.0], [0.5, 1.0]]])
    add = torch.tensor([[[10.0, 0.0], [0.0, 2.0]]])
    # Slot 1 keeps (0, 1) of itself after the first head, then (0.75, 0.5) of that; slot 2 keeps (0.75, 0.5).
    expected = torch.tensor([[[0.0 + 10.0, 1.0 + 1.0], [2.25 + 0.0, 2.0 + 1.0]]])
    torch.testing.assert_close(erase_and_add(memory, addresses, erase, add), expected)


def test_what_is_unused_is_allocated_first() -> None:
    allocation = allocate(torch.tensor([[1.0, 0.0, 1.0]]))
    torch.testing.assert_close(allocation, torch.tensor([[0.0, 1.0, 0.0]]), atol=1e-5, rtol=0)
    # From the least used on: 1 − 0.2, then 0.2 (1 − 0.5), then 0.2 · 0.5 (1 − 0.9).
    allocation = allocate(torch.tensor([[0.5, 0.9, 0.2]]))
    torch.testing.assert_close(allocation, torch.tensor([[0.1, 0.01, 0.8]]), atol=1e-5, rtol=0)
    assert allocate(torch.ones(1, 3)).abs().max() < 1e-9


def test_writing_uses_a_slot_and_a_free_gate_sets_what_was_read_free() -> None:
    usage, wrote = torch.tensor([[0.5, 0.0, 1.0]]), torch.tensor([[0.5, 1.0, 0.0]])
    read = torch.tensor([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]])
    remainder = use(usage, wrote, read, torch.tensor([[0.0, 0.0]]))
    torch.testing.assert_close(remainder, torch.tensor([[0.75, 1.0, 1.0]]))
    freed = use(usage, wrote, read, torch.tensor([[1.0, 0.5]]))
    torch.testing.assert_close(freed, torch.tensor([[0.375, 1.0, 0.0]]))


def test_links_lead_along_the_order_of_writing_and_back() -> None:
    links, precedence = torch.zeros(1, 4, 4), torch.zeros(1, 4)
    for slot in (2, 0, 3):
        links, precedence = link(links, precedence, torch.eye(4)[[slot]])
    assert links[0].nonzero().tolist() == [[0, 2], [3, 0]]
    assert torch.equal(at(2, of=4) @ links.transpose(1, 2), at(0, of=4))
    assert torch.equal(at(3, of=4) @ links, at(0, of=4))
    links, precedence = link(links, precedence, torch.eye(4)[[0]])  # rewritten, it follows another
    assert links[0].nonzero().tolist() == [[0, 3]]
    half, _ = link(torch.zeros(1, 2, 2), torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]]))
    assert half[0].tolist() == [[0.0, 0.0], [0.5, 0.0]]
