"""Copying by hand: a mixture over three words, sums of one, coverage, and a naive loop against the batched loss."""

import math

import pytest
import torch
from torch import Tensor

from regard.attention.scores import Additive, Covered
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.models.copying import Copying, Pointed, coverage_loss, log_likelihood, log_mixture
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.tasks.translation.copying import CopyingCrossEntropy, forced_copies
from regard.tasks.translation.copying_task import CopyingTranslation
from regard.tasks.translation.objectives import objective_for

WORDS = SpaceTokeniser(["a", "b", "c"])
PAIRS = [("a Zoë b Zoë", "Zoë b"), ("c", "a unheard"), ("x y z a", "z y x")]
SMALL = {"embedding": 6, "width": 8, "dropout": 0.0, "copies": True}
NETWORKS = {
    "recurrent": Seq2SeqOptions(**SMALL, coverage=0.5),
    "transformer": TransformerOptions(
        encoder_layers=1, decoder_layers=1, width=8, feed_forward=8, heads=2, dropout=0.0, copies=True
    ),
}


@pytest.fixture(params=NETWORKS)
def task(request: pytest.FixtureRequest) -> CopyingTranslation:
    options = NETWORKS[request.param]
    torch.manual_seed(2)
    network = (Seq2Seq if isinstance(options, Seq2SeqOptions) else Transformer)(options, 7, 7, True, 0)
    return CopyingTranslation(network, WORDS, objective_for(options, 0.1)).double().eval()


def half_and_half(weights: list[float]) -> Pointed:
    """Return a place that is as likely to copy as to write."""
    return Pointed(torch.zeros(1, 1), torch.tensor([weights]), torch.zeros(1))


def test_the_mixture_of_three_words_is_as_on_paper() -> None:
    """p = ½ · P + ½ · Σ α: for P = (.2, .3, .5) and α = (.1, .6, .3) at 2, 0 and one beyond: (.4, .15, .3, .15)."""
    logits, source = torch.tensor([[0.2, 0.3, 0.5]]).log(), torch.tensor([[2, 0, 3]])
    mixture = log_mixture(logits, half_and_half([0.1, 0.6, 0.3]), source, further=1).exp()
    torch.testing.assert_close(mixture, torch.tensor([[0.4, 0.15, 0.3, 0.15]]))


def test_a_word_that_stands_twice_is_copied_from_both_places() -> None:
    """½ · ½ + ½ · (.25 + .5) = .625, by both functions."""
    logits, source = torch.zeros(1, 2), torch.tensor([[1, 0, 1]])
    pointed = half_and_half([0.25, 0.25, 0.5])
    assert log_mixture(logits, pointed, source, 0).exp()[0, 1] == pytest.approx(0.625)
    assert log_likelihood(logits, pointed, source, torch.tensor([1])).exp().item() == pytest.approx(0.625)


def test_what_looks_at_the_end_is_written() -> None:
    """Half is copied, and .6 of that looks at the end: a is left .2, so P = (.5, .5) has 1 − .2 = .8 of p."""
    logits, source = torch.zeros(1, 2), torch.tensor([[1, 0, 0]])
    switch = Copying(1)
    torch.nn.init.zeros_(switch.switch.weight)
    torch.nn.init.zeros_(switch.switch.bias)
    pointed = switch(torch.zeros(1, 1, 1), torch.tensor([[[0.4, 0.6, 0.0]]]), torch.tensor([2])).flatten()
    torch.testing.assert_close(pointed.weights, torch.tensor([[0.4, 0.0, 0.0]]))
    torch.testing.assert_close(log_mixture(logits, pointed, source, 0).exp(), torch.tensor([[0.4, 0.6]]))
    assert log_likelihood(logits, pointed, source, torch.tensor([0])).exp().item() == pytest.approx(0.4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_not_copied_has_what_the_vocabulary_gives_it_however_little(dtype: torch.dtype) -> None:
    """log ½ + log P, even for P of e⁻²⁰⁰. If all else copies, the vocabulary's share is p_gen, here e⁻³⁰⁰."""
    logits, source = torch.tensor([[0.0, -200.0]], dtype=dtype).requires_grad_(), torch.tensor([[0, 0]])
    for switch, log_share in ((0.0, math.log(0.5)), (-300.0, -300.0)):
        pointed = Pointed(torch.zeros(1, 1), torch.tensor([[0.75, 0.25]], dtype=dtype), torch.tensor([switch]))
        result = log_likelihood(logits, pointed, source, torch.tensor([1]))
        assert result.item() == pytest.approx(log_share - 200, rel=1e-6)
        assert log_mixture(logits, pointed, source, 0)[0, 1].item() == pytest.approx(log_share - 200, rel=1e-6)
        (slope,) = torch.autograd.grad(result, logits)
        assert slope.tolist() == [[-1.0, 1.0]]


def test_coverage_costs_what_is_looked_at_again() -> None:
    """Looks at (.7, .3), (.4, .6), (0, 1) cost nothing, then .4 + .3, then 0 + .9, as c is (1.1, .9) by then."""
    looks = torch.tensor([[[0.7, 0.3], [0.4, 0.6], [0.0, 1.0]]])
    torch.testing.assert_close(coverage_loss(looks), torch.tensor([[0.0, 0.7, 0.9]]))


def test_the_score_sees_what_was_looked_at() -> None:
    """wᵀ tanh(U q + V k + u c) for scalars: tanh(1 · 1 + 1 · 2 + 3 · c) for c = 0 and c = ½."""
    covered, plain = Covered(1, 1, 1), Additive(1, 1, 1)
    for part in covered.parameters():
        torch.nn.init.ones_(part)
    torch.nn.init.constant_(covered.of_coverage.weight, 3.0)
    plain.load_state_dict(covered.state_dict(), strict=False)
    query, key = torch.ones(1, 1, 1, 1), torch.full((1, 1, 1, 1), 2.0)
    assert covered.compare(query, covered.prepare(key)).item() == pytest.approx(plain(query, key).item())
    seen = covered.compare(query, covered.prepare(key), torch.full((1, 1, 1, 1), 0.5))
    assert seen.item() == pytest.approx(math.tanh(1 + 2 + 1.5))


def test_what_may_be_written_sums_to_one(task: CopyingTranslation) -> None:
    for log_probabilities in (task.forced_log_probabilities(task.pair_up(PAIRS))[0], _first_step(task)):
        torch.testing.assert_close(
            log_probabilities.double().exp().sum(-1), torch.ones(len(log_probabilities)).double(), atol=1e-6, rtol=0
        )
    assert _first_step(task).shape == (3, 7 + 3)
    # The sentences have one, no and three words outside the vocabulary.
    assert _first_step(task)[:, 7:].isfinite().sum(1).tolist() == [1, 0, 3]


def _first_step(task: CopyingTranslation) -> Tensor:
    batch = task.pair_up(PAIRS)
    with torch.no_grad():
        return task.step(torch.full((3,), task.begin), task.start(batch))[0]


def test_the_loss_is_that_of_a_naive_loop(task: CopyingTranslation) -> None:
    smoothing, coverage, total = 0.1, getattr(task.model.options, "coverage", 0.0), 0.0
    for source, target in PAIRS:
        batch = task.pair_up([(source, target)])
        copies_forced = forced_copies(task.model, batch)
        looked = torch.zeros(batch.source.shape[1], dtype=torch.float64)
        words = [*source.split(), "</s>"]
        for place, word in enumerate([*target.split(), "</s>"]):
            probabilities = task.model.logits(copies_forced.pointed.states[place]).softmax(-1)
            weights, copies = copies_forced.pointed.weights[place], 1 - copies_forced.pointed.switch[place].sigmoid()
            tokens = {"a": 4, "b": 5, "c": 6, "</s>": 3}
            every = (1 - copies * weights.sum()) * probabilities
            for i, other in enumerate(words):
                if other in tokens:
                    every[tokens[other]] = every[tokens[other]] + copies * weights[i]
            is_beyond = word in words and word not in tokens
            p = copies * weights[[other == word for other in words]].sum() if is_beyond else every[tokens.get(word, 1)]
            total -= (1 - smoothing) * p.log() + smoothing * every.log().mean()
            total += coverage * torch.minimum(weights, looked).sum()
            looked = looked + weights
    torch.testing.assert_close(task.loss(task.pair_up(PAIRS)).total, total)


def test_two_passes_that_agree_cost_what_one_costs_and_others_more(task: CopyingTranslation) -> None:
    batch, network = task.pair_up(PAIRS), task.model
    one, two = (CopyingCrossEntropy(0.1, consistency)(network, batch, None).total for consistency in (0.0, 5.0))
    torch.testing.assert_close(one, two)
    network.train()
    for part in network.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.5
    torch.manual_seed(1)
    apart = CopyingCrossEntropy(0.0, 5.0)(network, batch, None).total
    torch.manual_seed(1)
    assert apart > CopyingCrossEntropy(0.0, 1e-9)(network, batch, None).total


def test_nothing_copied_has_a_finite_gradient() -> None:
    logits = torch.zeros(1, 2, requires_grad=True)
    weights = torch.zeros(1, 2, requires_grad=True)  # as sparsemax may give them
    pointed = Pointed(torch.zeros(1, 1), weights, torch.zeros(1))
    (-log_likelihood(logits, pointed, torch.tensor([[0, 2]]), torch.tensor([1]))).sum().backward()
    assert logits.grad is not None
    assert weights.grad is not None
    torch.testing.assert_close(logits.grad, torch.tensor([[0.5, -0.5]]))
    assert weights.grad.isfinite().all()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"decoder": "bottleneck"}, "a bottleneck has no attention, so copies would do nothing"),
        ({"window": "monotonic"}, "so not window"),
        ({"hard": "straight-through"}, "so not hard"),
        ({"own_tokens": 0.5}, "so not own_tokens"),
        ({"coverage": 1.0, "score": "dot"}, "coverage is part of the additive score"),
        ({"copies": False, "coverage": 1.0}, "only models that copy have coverage"),
    ],
)
def test_what_does_not_go_with_copying_is_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(Seq2SeqOptions, SMALL | table)


def test_copying_needs_no_more_than_a_switch() -> None:
    """A copying network adds only a weight for each coordinate of a state, and a bias."""
    plain, copying = (Seq2Seq(Seq2SeqOptions(**SMALL | {"copies": copy}), 7, 7, True, 0) for copy in (False, True))
    sizes = [sum(parameter.numel() for parameter in network.parameters()) for network in (plain, copying)]
    assert sizes[1] - sizes[0] == 8 + 1
    assert plain.copying is None
