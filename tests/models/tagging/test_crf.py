"""A linear chain over tags compared with all sequences: total, best path and marginals."""

from itertools import pairwise, product

import pytest
import torch
from torch import Tensor

from regard.models.tagging.crf import Chain

TAGS, LENGTHS = 3, (3, 1, 2)


@pytest.fixture
def chain() -> Chain:
    torch.manual_seed(2)
    chain = Chain(TAGS).double()
    for weights in chain.parameters():
        torch.nn.init.normal_(weights)
    return chain.requires_grad_(False)


@pytest.fixture
def emissions() -> Tensor:
    torch.manual_seed(3)
    return torch.randn(len(LENGTHS), max(LENGTHS), TAGS, dtype=torch.float64)


def every_score(chain: Chain, emissions: Tensor, length: int) -> dict[tuple[int, ...], float]:
    """Return the score of every tag sequence, term by term."""
    scores = {}
    for tags in product(range(TAGS), repeat=length):
        tag_scores = sum(emissions[place, tag] for place, tag in enumerate(tags))
        between = sum(chain.between[one, other] for one, other in pairwise(tags))
        scores[tags] = float(chain.first[tags[0]] + tag_scores + between + chain.last[tags[-1]])
    return scores


def test_total_best_and_marginals_are_those_of_all_sequences(chain: Chain, emissions: Tensor) -> None:
    lengths = torch.tensor(LENGTHS)
    total, best = chain.log_total(emissions, lengths), chain.best(emissions, lengths)
    marginals = chain.marginals(emissions, lengths)
    for row, length in enumerate(LENGTHS):
        scores = every_score(chain, emissions[row], length)
        expected = torch.tensor(list(scores.values()), dtype=torch.float64).logsumexp(dim=0)
        torch.testing.assert_close(total[row], expected)
        assert tuple(best[row, :length].tolist()) == max(scores, key=scores.__getitem__)
        assert not best[row, length:].any()
        assert not marginals[row, length:].any()
        for place, tag in product(range(length), range(TAGS)):
            matching = [score for tags, score in scores.items() if tags[place] == tag]
            share = (torch.tensor(matching, dtype=torch.float64).logsumexp(dim=0) - expected).exp()
            torch.testing.assert_close(marginals[row, place, tag], share)


def test_the_score_of_a_sequence_is_the_sum_of_its_terms(chain: Chain, emissions: Tensor) -> None:
    tags = torch.tensor([[2, 0, 1], [1, 2, 2], [0, 2, 1]])
    result = chain.score(emissions, torch.tensor(LENGTHS), tags)
    expected = [
        every_score(chain, emissions[row], length)[tuple(tags[row, :length].tolist())]
        for row, length in enumerate(LENGTHS)
    ]
    assert result.tolist() == pytest.approx(expected)


def test_the_probabilities_of_all_sequences_add_up_to_one(chain: Chain, emissions: Tensor) -> None:
    every = torch.tensor(list(product(range(TAGS), repeat=3)))
    rows = emissions[:1].expand(len(every), -1, -1)
    result = chain.log_probability(rows, torch.full((len(every),), 3), every).exp().sum()
    assert float(result) == pytest.approx(1.0)


def test_a_new_chain_is_a_softmax_at_each_word(emissions: Tensor) -> None:
    new, lengths = Chain(TAGS).double(), torch.tensor(LENGTHS)
    torch.testing.assert_close(new.marginals(emissions, lengths)[0], emissions[0].softmax(dim=-1))
    assert new.best(emissions, lengths)[0].tolist() == emissions[0].argmax(dim=-1).tolist()
