"""Labels written while frames arrive: when, with what probability, and how decisions are learnt."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.online.learning import _delay_cost, learn_to_write
from regard.models.online.sounds import Listener, ListenerOptions
from regard.models.transcriber import as_labels
from regard.tasks.transcription.label_steps import LabelSteps
from regard.verbs.transcribe.run import LabelSearch, _search_labels

BANDS, SYMBOLS = 3, 2


def build(**options: Any) -> Listener:
    table = {"embedding": 3, "width": 5, "cell": "gru", "dropout": 0.0, "stack": 2, "entropy": 0.0} | options
    torch.manual_seed(4)
    return Listener(check(ListenerOptions, table), BANDS, SYMBOLS).double()


def frames(*lengths: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(5)
    return torch.randn(len(lengths), max(lengths), BANDS, dtype=torch.float64), torch.tensor(lengths)


def script(network: Listener, monkeypatch: pytest.MonkeyPatch, decisions: list[bool]) -> None:
    """Script the decisions of a single row, repeated from the beginning; then it writes."""
    steps = iter([*decisions, *[True] * 9] * 9)
    monkeypatch.setattr(network.decision, "decide", lambda logit, manner: torch.tensor([next(steps)]))


def test_a_label_lies_at_the_frame_where_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve frames are six steps: wait, write, wait, write, and the end at the fifth step."""
    network = build().eval()
    heard = network.hear(*frames(12))
    script(network, monkeypatch, [False, True, False, True, True])
    with watching(network) as gazes:
        assert network.best(heard)  # attempts on the way are not looked at
        script(network, monkeypatch, [False, True, False, True, True])
        assert network.align(heard, *as_labels([[1, 0]], torch.device("cpu"))) == [[(1, 2), (3, 4)]]
    (gaze,) = gazes
    assert (gaze.looks_from, gaze.looks_at) == ("source", "labels")
    weights = gaze.weights[0, 0]
    torch.testing.assert_close(weights.sum(-1), torch.ones(6).double())
    assert (weights[:2, 0] > 0).all()  # the first label is possible until it is written
    assert (weights[2:4, 1] > 0).all()
    assert not weights[2:, 0].any()
    assert not weights[4:, :2].any()  # the end is not a label, and nothing is heard after it
    assert float(weights[5, 2]) == 1.0


def test_the_score_is_that_of_the_labels_and_of_the_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of six frames: wait, write label 1, then the end, which is forced at the last step."""
    network = build().eval()
    heard = network.hear(*frames(6))
    script(network, monkeypatch, [False, True])
    course, _ = network.follow(torch.tensor([[2, 1]]), heard, network.begin(heard))
    chance = network.decision(course.states[0, :2]).sigmoid()
    logs = network.logits(course.states[0]).log_softmax(-1)
    by_hand = (1 - chance[0]).log() + chance[1].log() + logs[1, 1] + logs[2, network.end]
    script(network, monkeypatch, [False, True])
    score = network.score(heard, *as_labels([[1]], torch.device("cpu")))
    torch.testing.assert_close(score[0], by_hand)


def test_what_it_writes_is_what_a_beam_of_one_finds_and_batch_mates_change_nothing() -> None:
    network = build(width=8, repeats=2).eval()
    sounds, lengths = frames(14, 9, 4)
    heard = network.hear(sounds, lengths)
    written = network.best(heard)
    steps = LabelSteps(network)
    assert [list(labels) for labels in _search_labels(_Task(network), heard, 1, LabelSearch(1))] == written
    assert all(len(row) < int(limit) for row, limit in zip(written, steps.limits(heard), strict=True))
    for row, length in enumerate(lengths.tolist()):
        assert network.best(network.hear(sounds[row : row + 1, :length], lengths[row : row + 1])) == [written[row]]


class _Task:
    """As much of a task as a search needs."""

    def __init__(self, model: Listener) -> None:
        self.model = model


def test_a_beam_that_is_too_wide_is_refused() -> None:
    heard = (network := build().eval()).hear(*frames(4))
    with pytest.raises(Fault, match=r"The beam is 65, but a network that writes label by label keeps at most 64\."):
        _search_labels(_Task(network), heard, 65, LabelSearch(65))


def test_a_language_model_has_its_say() -> None:
    """It allows only one label, then the other, then the end."""
    network, order = build().eval(), (1, 0, 2)

    class Strict:
        def after(self, prefix: tuple[int, ...]) -> list[float]:
            return [0.0 if label == order[len(prefix) % 3] else -50.0 for label in range(3)]

    heard = network.hear(*frames(14, 9))
    assert _search_labels(_Task(network), heard, 3, LabelSearch(3, Strict(), 1.0)) == [(1, 0), (1, 0)]
    unheard = _search_labels(_Task(network), heard, 3, LabelSearch(3, Strict(), 0.0))
    assert unheard == _search_labels(_Task(network), heard, 3, LabelSearch(3))


def test_it_begins_as_eager_as_it_is_told() -> None:
    state = torch.zeros(5, dtype=torch.float64)
    assert float(build(first_chance=0.1).decision(state).detach().sigmoid()) == pytest.approx(0.1)


def test_entropy_draws_to_the_first_chance() -> None:
    """log 2 where a decision is as probable as at first; elsewhere less, by the divergence from that."""
    network = build(first_chance=0.2)
    entropies = network._entropy(torch.tensor([[0.25, 1.0]], dtype=torch.float64).log())[0].tolist()
    less = 0.5 * math.log(0.5 / 0.2) + 0.5 * math.log(0.5 / 0.8)
    assert entropies == [pytest.approx(math.log(2)), pytest.approx(math.log(2) - less)]  # chances of 1/5 and 1/2


def test_a_delay_costs_nothing_at_first_and_more_with_the_batches() -> None:
    options = build(delay=0.4, delay_rises=10).options
    assert [_delay_cost(options, batches) for batches in (0, 5, 10, 20)] == [0.0, 0.2, 0.4, 0.4]
    assert _delay_cost(build(delay=0.4).options, 0) == 0.4


def test_the_weight_of_the_entropy_falls_with_the_batches() -> None:
    """With zero rewards, decisions learn from the entropy alone, and not at all once its weight is zero."""
    network = build(entropy=0.5, entropy_falls=10, reward=0.0, samples=2)
    heard, real = network.hear(*frames(8)), torch.ones(1, 1, 2, dtype=torch.bool)
    inputs, target = torch.tensor([[2, 1]]), torch.tensor([[1, 2]])
    gradients = []
    for batches in (0, 5, 10):
        torch.manual_seed(1)
        losses = learn_to_write(network, heard, inputs, target, real, {"batches": torch.tensor(batches)})
        (gradient,) = torch.autograd.grad(losses.loss, [network.decision.gate.bias], retain_graph=True)
        gradients.append(float(gradient))
        assert int(losses.carry["batches"]) == batches + 1
    assert gradients[0] != 0
    assert gradients[1:] == [pytest.approx(gradients[0] / 2), 0.0]


@pytest.mark.long
def test_it_learns_to_wait_until_a_label_was_heard() -> None:
    """Each of two labels is a band that is loud for one step somewhere in a third of the sound."""
    network = build(width=16, embedding=4, stack=1, samples=4, first_chance=0.3, delay=0.02).float().train()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.04)

    def draw(rows: int) -> tuple[Tensor, Tensor, Tensor]:
        labels = torch.randint(SYMBOLS, (rows, 2))
        places = torch.stack([torch.randint(0, 2, (rows,)), torch.randint(3, 5, (rows,))], dim=1)
        sounds = torch.zeros(rows, 6, BANDS).index_put((torch.arange(rows)[:, None], places, labels), torch.ones(()))
        return sounds, labels, places

    lengths, counts = torch.full((24,), 6), torch.full((24,), 2)
    for _ in range(40):
        sounds, labels, _ = draw(24)
        optimizer.zero_grad()
        (network.learn(network.hear(sounds, lengths), labels, counts, None).loss / 24).backward()
        optimizer.step()
    network.eval()
    sounds, labels, places = draw(24)
    heard = network.hear(sounds, lengths)
    right = [row for row, written in enumerate(network.best(heard)) if written == labels[row].tolist()]
    assert len(right) >= 22
    spans = network.align(heard, labels, counts)
    late = [spans[row][label][0] - int(places[row, label]) for row in right for label in range(2)]
    assert min(late) >= 0
