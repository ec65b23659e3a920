"""Online alignment: what a step costs and may know, where tokens are written, and how decisions are learnt."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.models.online.steps import Course
from regard.models.online.text import Online, OnlineOptions
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.objectives import objective_for

TOKENS = 6


def build(**options: Any) -> Online:
    table = {"embedding": 3, "width": 4, "cell": "gru", "dropout": 0.0, "entropy": 0.0} | options
    torch.manual_seed(2)
    return Online(check(OnlineOptions, table), TOKENS, TOKENS, False, 0).double()


def batch_of(source: list[int], target: list[int]) -> PairBatch:
    lengths = [torch.tensor([len(tokens)]) for tokens in (source, target)]
    return PairBatch.of(torch.tensor([source]), lengths[0], torch.tensor([target]), lengths[1], 1)


def script(network: Online, monkeypatch: pytest.MonkeyPatch, decisions: list[tuple[bool, ...]]) -> None:
    """Script each row's decisions step by step; after the script ends it writes."""
    steps = iter(range(99))

    def decide(logit: Tensor, manner: Tensor) -> Tensor:
        step = next(steps)
        return torch.tensor([step >= len(row) or row[step] for row in decisions])

    monkeypatch.setattr(network.decision, "decide", decide)


def follow(network: Online, batch: PairBatch) -> Course:
    memory = network.read(batch.source, batch.source_lengths)
    return network.follow(batch.inputs, memory, network.begin(memory))[0]


def test_where_tokens_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three letters of two steps each: write at the second and fourth steps; the rest comes at the last."""
    network, batch = build(repeats=2), batch_of([3, 4, 2], [3, 4, 5, 2])
    script(network, monkeypatch, [(False, True, False, True, False)])
    course = follow(network, batch)
    assert course.writes[0].tolist() == [False, True, False, True, False, True, True]
    assert course.places[0].tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert course.before[0].tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert course.steps_of(4).tolist() == [[1, 3, 5, 6]]
    assert course.log_probability[0, :5].all()
    assert not course.log_probability[0, 5:].any()  # the last step leaves nothing to decide
    assert not course.entropy[0, 5:].any()


def test_the_alignment_that_is_watched_only_moves_on() -> None:
    network, batch = build(repeats=1).eval(), batch_of([3, 4, 5, 3, 2], [4, 3, 5, 4, 3, 2])
    memory = network.read(batch.source, batch.source_lengths)
    with watching(network) as gazes:
        network.write(batch.inputs, memory, network.begin(memory))
    (gaze,) = gazes
    places = gaze.weights[0, 0].argmax(-1)
    assert torch.equal(gaze.weights[0, 0].sum(-1), torch.ones(6).double())
    assert (places.diff() >= 0).all()
    assert places[-1] == 4


def test_what_comes_later_changes_nothing_that_was_written() -> None:
    """The inputs differ only in their last token: everything before it is read is the same."""
    network = build(repeats=2).eval()
    first, second = (follow(network, batch_of([3, 4, 5, last], [3, 4, 2])) for last in (2, 3))
    early = int((first.places[0] < 3).sum())
    assert early >= 3
    torch.testing.assert_close(first.states[:, :early], second.states[:, :early])


def course_of_each(network: Online, batch: PairBatch, monkeypatch: pytest.MonkeyPatch) -> dict[Any, tuple[bool, ...]]:
    """Return every possible course with decisions that lead to it."""
    courses = dict[Any, tuple[bool, ...]]()
    for decisions in product((False, True), repeat=3):
        script(network, monkeypatch, [decisions])
        course = follow(network, batch)
        courses.setdefault(tuple(course.writes[0].tolist()), decisions)
    return courses


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("baseline", "samples", "entropy", "delay"),
    [("none", 1, 0.0, 0.0), ("none", 1, 0.5, 0.3), ("moving", 1, 0.5, 0.3), ("leave-one-out", 2, 0.5, 0.3)],
)
def test_the_signal_is_the_exact_gradient_on_average(
    baseline: str, samples: int, entropy: float, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gradient of −E[log p(y | b) − δ Σ places] − λ H(b), with every way to decide written out."""
    network = build(repeats=2, baseline=baseline, samples=samples, entropy=entropy, delay=delay)
    batch = batch_of([3, 2], [4, 2])
    objective, weights = objective_for(network.options, 0.0), list(network.parameters())
    courses = list(course_of_each(network, batch, monkeypatch).values())
    assert len(courses) == 7  # two tokens within three steps, or later
    bound, chances = torch.zeros((), dtype=torch.float64), []
    for decisions in courses:
        script(network, monkeypatch, [decisions])
        course = follow(network, batch)
        logs = network.logits(course.states_of(2))[0].log_softmax(-1)
        likelihood, chance = logs[[0, 1], [4, 2]].sum(), course.log_probability.sum()
        reward = likelihood - delay * course.places_of(2).sum()
        bound = bound + chance.exp() * (reward - entropy * chance)
        chances.append(float(chance.detach().exp()))
    assert sum(chances) == pytest.approx(1.0)
    exact = torch.autograd.grad(-bound, weights, allow_unused=True)
    mean = [torch.zeros_like(weight) for weight in weights]
    for numbers in product(range(len(courses)), repeat=samples):
        script(network, monkeypatch, [courses[number] for number in numbers])
        carry = {"baseline": torch.tensor(-1.5, dtype=torch.float64)}
        gradients = torch.autograd.grad(objective(network, batch, carry).total, weights, allow_unused=True)
        chance = torch.tensor([chances[number] for number in numbers]).prod()
        mean = [a if b is None else a + chance * b for a, b in zip(mean, gradients, strict=True)]
    for one, other in zip(mean, exact, strict=True):
        torch.testing.assert_close(one, torch.zeros_like(one) if other is None else other)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("delay", "entropy", "steps", "places"), [(0.05, 0.2, 70, {1, 2}), (0.0, 0.0, 25, {4})])
def test_it_learns_when_to_write(delay: float, entropy: float, steps: int, places: set[int]) -> None:
    """The output says which token came second, so the first step is too early. Waiting is free, so it waits."""
    network = build(width=12, embedding=6, repeats=1, samples=8, delay=delay, entropy=entropy).float()
    objective, optimizer = objective_for(network.options, 0.0), torch.optim.Adam(network.parameters(), lr=0.03)
    source = torch.tensor([[a, b, 5, 5, 2] for a in (3, 4) for b in (3, 4)])
    target, lengths = torch.stack([source[:, 1], source[:, -1]], dim=1), torch.full((4,), 5)
    batch = PairBatch.of(source, lengths, target, torch.full((4,), 2), 1)
    for _ in range(steps):
        optimizer.zero_grad()
        objective(network, batch, None).total.backward()
        optimizer.step()
    course = follow(network.eval(), batch)
    assert set(course.places_of(2)[:, 0].tolist()) <= places
    assert torch.equal(network.logits(course.states_of(2))[:, 0].argmax(-1), target[:, 0])


def test_two_passes_that_agree_are_not_for_it() -> None:
    with pytest.raises(Fault, match=r"training\.consistency compares two passes over the true tokens"):
        objective_for(check(OnlineOptions, {}), 0.0, 1.0)


def test_its_cost_grows_with_the_length_and_no_faster() -> None:
    network = Online(check(OnlineOptions, {"width": 8, "embedding": 4}), *2 * [ByteTokeniser().size], True, 0)
    assert network.cost(200)["multiplications"] == 2 * network.cost(100)["multiplications"]
