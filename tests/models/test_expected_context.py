"""Soft attention compared with what it approximates: the exact expectation over sampled places.

Xu et al. 2015, section 4.2.1: n_k is the score of word k before the softmax, given the place s that is looked at. Soft
attention approximates the normalised weighted geometric mean of the softmax over places (Baldi and Sadowski 2014),.

    NWGM[p(y_t = k)] = Π_i p(y_t = k | s = i)^α_i / Σ_j Π_i p(y_t = j | s = i)^α_i = exp(E n_k) / Σ_j exp(E n_j),

which in turn approximates E p(y_t = k) = Σ_i α_i p(y_t = k | s = i). For a few places all three can be computed.
"""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from regard.models.captions.captioner import Captioner, CaptionerOptions

DEPTH, WORDS = 3, 6


class Expectations(NamedTuple):
    exact: Tensor  # Σ_i α_i softmax(n(a_i))
    geometric: Tensor  # softmax(Σ_i α_i n(a_i))
    soft: Tensor  # softmax(n(Σ_i α_i a_i)), which is what the network writes


def captioner(seed: int = 1) -> Captioner:
    torch.manual_seed(seed)
    options = CaptionerOptions(embedding=4, width=5, compared=4, dropout=0.0)
    return Captioner(options, DEPTH, 4, WORDS, 0).double().eval()


@torch.no_grad()
def expectations(network: Captioner, places: Tensor) -> Expectations:
    """Return the three distributions of the first word (word) for the annotations (place, depth) of one picture."""
    memory = network.read(places[None])
    start = network.begin(memory)
    written = network.write(torch.tensor([[1]]), memory, start)
    weights = written.weights[0, 0]
    word = network.embedding(torch.tensor([1]))
    gate = network.gate(start.hidden).sigmoid()
    rows = []
    for place in places:
        context = gate * place[None]
        hidden, _ = network.lstm(torch.cat([word, context], dim=-1), (start.hidden, start.cell))
        rows.append(network.logits(word + network.of_state(hidden) + network.of_context(context))[0])
    scores = torch.stack(rows)
    soft = network.logits(written.states)[0, 0].softmax(-1)
    return Expectations(weights @ scores.softmax(-1), (weights @ scores).softmax(-1), soft)


def different_places(count: int = 4, spread: float = 1.0) -> Tensor:
    middle, others = torch.randn(DEPTH, dtype=torch.double), torch.randn(count, DEPTH, dtype=torch.double)
    return middle + spread * (others - others.mean(dim=0))


def gap(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def test_the_product_of_powers_is_the_softmax_of_the_mean() -> None:
    scores, weights = torch.randn(3, 5, dtype=torch.double), torch.tensor([0.2, 0.5, 0.3], dtype=torch.double)
    powers = (scores.softmax(-1) ** weights[:, None]).prod(dim=0)
    torch.testing.assert_close(powers / powers.sum(), (weights @ scores).softmax(-1))


def test_all_agree_where_every_place_is_the_same() -> None:
    result = expectations(captioner(), different_places(spread=0.0))
    torch.testing.assert_close(result.geometric, result.exact)
    torch.testing.assert_close(result.soft, result.exact)


def test_all_agree_where_only_one_place_is_looked_at() -> None:
    network = captioner()
    with torch.no_grad():
        network.look.score.energy.weight.mul_(1e4)
    result = expectations(network, different_places())
    torch.testing.assert_close(result.geometric, result.exact)
    torch.testing.assert_close(result.soft, result.exact)


def test_soft_attention_is_the_geometric_mean_where_scores_are_linear_in_what_is_seen() -> None:
    """Without the path through the LSTM, n = L_o (E y + L_h h + L_z ẑ) is linear in ẑ; the exact mean differs."""
    network = captioner()
    with torch.no_grad():
        network.lstm.weight_ih[:, -DEPTH:] = 0
    result = expectations(network, different_places(spread=3.0))
    torch.testing.assert_close(result.soft, result.geometric)
    assert gap(result.exact, result.geometric) > 1e-4


@pytest.mark.parametrize("seed", [1, 2])
def test_places_that_differ_half_as_much_lead_a_quarter_as_far_apart(seed: int) -> None:
    """E f(n) − f(E n) is half the curvature times the variance, and the variance is the square of the spread."""
    network, state = captioner(seed), torch.get_rng_state()
    gaps = []
    for spread in (0.02, 0.01):
        torch.set_rng_state(state)
        result = expectations(network, different_places(spread=spread))
        gaps.append([gap(result.exact, result.geometric), gap(result.exact, result.soft)])
    for wide, narrow in zip(*gaps, strict=True):
        assert wide / narrow == pytest.approx(4, rel=0.05)


@pytest.mark.parametrize(("places", "furthest"), [(2, 0.5), (8, 0.875)])
def test_places_that_are_sure_of_other_words_lead_as_far_apart_as_can_be(places: int, furthest: float) -> None:
    """Each place is sure of its own word: the exact mean gives each α, the geometric one all to the likeliest.

    With ever more places of similar weight, the two differ by up to 1 − 1/L of a word's probability.
    """
    weights = torch.full((places,), 1 / places, dtype=torch.double)
    weights[0] += 0.01
    weights /= weights.sum()
    scores = 1e4 * torch.eye(places, dtype=torch.double)
    exact, geometric = weights @ scores.softmax(-1), (weights @ scores).softmax(-1)
    torch.testing.assert_close(exact, weights)
    assert float(geometric[0]) == pytest.approx(1)
    assert gap(exact, geometric) == pytest.approx(furthest, abs=0.01)
