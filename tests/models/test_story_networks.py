"""Networks that read stories: formulas in plain loops; stacking and padding change nothing."""

import pytest
import torch
from torch import Tensor, nn

from regard.models.stories.dynamic import DynamicMemory, DynamicMemoryOptions, StackedGRU
from regard.models.stories.end_to_end import MemoryNetwork, MemoryOptions
from regard.models.stories.rows import StoryRows, StoryWords, spread_positions, weigh_words

WORDS = StoryWords(known=7, answers=3, slots=4)
FACTS = torch.tensor([[[1, 5, 6], [2, 4, 0], [7, 0, 0]], [[3, 3, 0], [0, 0, 0], [0, 0, 0]]])
ROWS = StoryRows(FACTS, torch.tensor([[2, 1, 0], [0, 0, 0]]), torch.tensor([3, 1]), torch.tensor([[4, 2], [6, 0]]))


def test_position_encoding_weighs_a_word_by_its_place_and_dimension() -> None:
    """Twice l_kj = (1 − j/J) − (k/d)(1 − 2j/J): the first of two words has weights 1 and 1, the second 1 and 2."""
    table = torch.tensor([[1.0, 1.0], [10.0, 10.0]])
    bags = weigh_words(torch.tensor([1, 2, 0]), 2, "position", torch.float32)
    expected = torch.tensor([1.0, 1.0]) + 10 * torch.tensor([1.0, 2.0])
    torch.testing.assert_close(bags @ spread_positions(table, "position"), expected)


def test_a_bag_counts_words_whatever_their_order() -> None:
    bags = weigh_words(torch.tensor([[2, 1, 2], [1, 2, 2]]), 3, "bag", torch.float32)
    assert bags.tolist() == [[1, 2, 0], [1, 2, 0]]


def plainly(network: MemoryNetwork, rows: StoryRows, row: int) -> tuple[Tensor, list[Tensor]]:
    """Compute Sukhbaatar et al. 2015, sections 2 and 4.1, for the first member, word by word."""
    options, (tables, times) = network.options, (network.tables[0], network.times[0])
    adjacent = options.tying == "adjacent"

    def sentence(tokens: Tensor, table: Tensor) -> Tensor:
        words = [int(token) for token in tokens if token]
        total, width = torch.zeros_like(table[0]), table.shape[1]
        for j, word in enumerate(words, 1):
            for k in range(1, width + 1):
                weight = 2 * ((1 - j / len(words)) - (k / width) * (1 - 2 * j / len(words)))
                total[k - 1] += (weight if options.encoding == "position" else 1.0) * table[word - 1, k - 1]
        return total

    def memories(table: int) -> list[Tensor]:
        count = int(rows.counts[row])
        facts = zip(rows.facts[row, :count], rows.times[row, :count], strict=True)
        return [sentence(fact, tables[table]) + options.times * times[table, int(time)] for fact, time in facts]

    state: Tensor = sentence(rows.questions[row], tables[0 if adjacent else 2])
    looks: list[Tensor] = []
    for hop in range(options.hops):
        keys, values = (memories(hop + more if adjacent else more) for more in (0, 1))
        if network.older is not None:
            ages = rows.times[row, : len(keys)].to(state.dtype)
            before = (looks[-1] @ ages) / looks[-1].sum() if looks else -1.0
            keys = [key + (age - before).tanh() * network.older[0, hop] for key, age in zip(keys, ages, strict=True)]
        empty = options.empty_slots * (WORDS.slots - len(keys))
        scores = torch.stack([*(state @ key for key in keys), *state.new_zeros(empty)])
        weights = scores.softmax(0)[: len(keys)]
        answer = sum(weight * value for weight, value in zip(weights, values, strict=True))
        state = answer + (state if network.carried is None else network.carried[0] @ state)
        looks.append(weights)
        if options.rectified and hop + 1 < options.hops:
            state = torch.stack([part.relu() if k >= 2 else part for k, part in enumerate(state)])
    output = tables[-1, : WORDS.answers] if network.output is None else network.output[0]
    return output @ state, looks


CHANGED: list[dict[str, object]] = [
    {},
    {"tying": "layer-wise"},
    {"encoding": "bag"},
    {"empty_slots": False},
    {"relative_times": True},
    {"rectified": True},
]


@pytest.mark.parametrize("changed", CHANGED, ids=str)
@torch.no_grad()
def test_a_memory_network_is_its_formula(changed: dict[str, object]) -> None:
    options = MemoryOptions.model_validate({"hops": 3, "width": 4} | changed)
    network = MemoryNetwork(options, WORDS, [5]).double()
    for weights in network.parameters():
        weights.mul_(8)  # so that each part of the formula matters
    reading = network(ROWS)
    for row, count in enumerate(ROWS.counts.tolist()):
        logits, looks = plainly(network, ROWS, row)
        torch.testing.assert_close(reading.logits[0, row], logits)
        torch.testing.assert_close(reading.looks[0, row, :, :count], torch.stack(looks))
        assert reading.looks[0, row, :, count:].count_nonzero() == 0


NETWORKS = {
    "memory": lambda seeds: MemoryNetwork(MemoryOptions(width=4), WORDS, seeds),
    "dmn": lambda seeds: DynamicMemory(DynamicMemoryOptions(width=4, dropout=0.0), WORDS, seeds),
}


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_a_member_is_the_same_alone_and_in_a_stack(name: str) -> None:
    alone, stacked = NETWORKS[name]([7]).double()(ROWS), NETWORKS[name]([3, 7]).double()(ROWS)
    torch.testing.assert_close(stacked.logits[1], alone.logits[0])
    torch.testing.assert_close(stacked.looks[1], alone.looks[0])
    assert not torch.allclose(stacked.logits[0], stacked.logits[1])


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_empty_slots_and_words_change_nothing(name: str) -> None:
    wider = nn.functional.pad(FACTS, (0, 2, 0, 1))
    padded = ROWS._replace(facts=wider, times=nn.functional.pad(ROWS.times, (0, 1)))
    network = NETWORKS[name]([7]).double()
    torch.testing.assert_close(network(padded).logits, network(ROWS).logits)


@torch.no_grad()
def test_a_hop_that_finds_nothing_may_look_at_empty_slots() -> None:
    """Three of four slots have facts, all scores zero: each fact has a quarter, or a third without empty slots."""
    for empty_slots, share in ((True, 1 / 4), (False, 1 / 3)):
        network = MemoryNetwork(MemoryOptions(width=4, empty_slots=empty_slots), WORDS, [7])
        network.tables.zero_()
        torch.testing.assert_close(network(ROWS).looks[0, 0, 0, :3], torch.full((3,), share))


@torch.no_grad()
def test_while_it_is_linear_a_member_weighs_by_plain_scores_and_others_do_not() -> None:
    network = NETWORKS["memory"]([3, 7]).double()
    soft = network(ROWS).looks
    network.linear[0] = 1
    looks = network(ROWS).looks
    torch.testing.assert_close(looks[1], soft[1])
    plain = looks[0, 0, 0]
    torch.testing.assert_close(nn.functional.pad(plain[:3], (0, 1)).softmax(0)[:3], soft[0, 0, 0, :3])
    assert looks[0, 1, :, 1:].count_nonzero() == 0


@torch.no_grad()
def test_a_stacked_gru_is_torchs() -> None:
    stack, cell = StackedGRU(1, 3).double(), nn.GRUCell(3, 3).double()
    order = [1, 0, 2]  # torch puts the reset gate first
    for mine, theirs in ((stack.inner, cell.weight_ih), (stack.outer, cell.weight_hh)):
        nn.init.normal_(mine)
        theirs.copy_(torch.cat([mine[0].chunk(3, 1)[gate].T for gate in order]))
    nn.init.normal_(stack.bias)
    cell.bias_ih.copy_(torch.cat([stack.bias[0, 0].chunk(3)[gate] for gate in order]))
    cell.bias_hh.zero_()
    inputs, state = torch.randn(1, 2, 3).double(), torch.randn(1, 2, 3).double()
    torch.testing.assert_close(stack(stack.project(inputs), state)[0], cell(inputs[0], state[0]))
