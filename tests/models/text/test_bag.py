"""Bags of words: n-gram keys, counts and weights, naive Bayes by hand, and logistic regression."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.models.text.bag import NO_NGRAM, Bag, BagOptions, NgramTable, count_runs, ngram_keys
from regard.models.text.texts import TextRows

TEXTS = TextRows(torch.tensor([[4, 5, 4, 4], [6, 0, 0, 0]]), torch.tensor([4, 1]))


def bag_of_words(classes: int = 2, **options: object) -> Bag:
    """Return a bag of the tokens 4 and 5 with random weights."""
    torch.manual_seed(1)
    bag = Bag(BagOptions.model_validate({"ngrams": 1, **options}), 9, torch.tensor([5, 6]), classes).double()
    torch.nn.init.normal_(bag.weight)
    torch.nn.init.normal_(bag.bias)
    return bag


def test_keys_of_ngrams_are_numbers_whose_digits_are_the_tokens() -> None:
    keys = ngram_keys(TEXTS, 2, vocabulary=9).tolist()
    assert keys[0] == [5, 6, 5, 5, 56, 65, 55]
    assert keys[1] == [7, *[NO_NGRAM] * 6]


def test_ngrams_longer_than_the_texts_are_none() -> None:
    short = TextRows(torch.tensor([[4]]), torch.tensor([1]))
    assert ngram_keys(short, 3, vocabulary=9).tolist() == [[5]]


def test_runs_are_counted_where_they_begin() -> None:
    assert count_runs(torch.tensor([[1, 1, 1, 2], [3, 4, 4, 5]])).tolist() == [[3, 0, 0, 1], [1, 2, 0, 1]]


def scores(bag: Bag, worth: Tensor) -> Tensor:
    """Return a bag's expected answers to texts with these n-gram values (text, n-gram)."""
    return torch.log_softmax(worth.double() @ (bag.weight * bag.ratios) + bag.bias, dim=-1)


def test_what_an_ngram_is_worth() -> None:
    """The first text has token 4 three times and token 5 once; the second has neither."""
    counts = bag_of_words(values="counts")
    torch.testing.assert_close(counts.answer(TEXTS), scores(counts, torch.tensor([[3, 1], [0, 0]])))
    binary = bag_of_words(values="binary")
    torch.testing.assert_close(binary.answer(TEXTS), scores(binary, torch.tensor([[1, 1], [0, 0]])))
    rare = bag_of_words(values="tf-idf")
    rare.take_counts(NgramTable(torch.tensor([5, 6]), torch.tensor([[2.0, 1.0], [1.0, 0.0]]), all_texts=3))
    # Token 4 is in all three texts, so log(4/4) + 1 = 1; token 5 is in one: log(4/2) + 1.
    worth = torch.tensor([3.0, math.log(2) + 1], dtype=torch.float64)
    torch.testing.assert_close(rare.rarity[1].item(), math.log(2) + 1)
    expected = scores(rare, torch.stack([worth / worth.norm(), 0 * worth]))
    torch.testing.assert_close(rare.answer(TEXTS), expected, rtol=1e-6, atol=1e-6)


def test_log_count_ratios_on_paper() -> None:
    """In the first class 3 texts have one n-gram and 1 the other; in the second class none and 2."""
    bag = bag_of_words(naive_bayes=True)
    bag.take_counts(NgramTable(torch.tensor([5, 6]), torch.tensor([[3.0, 0.0], [1.0, 2.0]]), all_texts=6))
    # With 1 added: p = (4, 2) of 6, q = (1, 3) of 4.
    expected = [[math.log(4 / 6 / (1 / 4)), math.log(1 / 4 / (4 / 6))], [math.log(2 / 6 / (3 / 4))] * 2]
    expected[1][1] = -expected[1][1]
    torch.testing.assert_close(bag.ratios, torch.tensor(expected, dtype=torch.float64), rtol=1e-6, atol=1e-6)


def test_the_gradient_is_that_of_logistic_regression() -> None:
    """∂/∂w = Σ_i x_i (p_i − y_i)ᵀ + n·l2·w, in float64 and by hand."""
    bag, labels = bag_of_words(classes=3, l2=0.3), torch.tensor([2, 0])
    loss = F.nll_loss(bag.answer(TEXTS), labels, reduction="sum") + 2 * bag.penalty()
    loss.backward()
    worth = torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    wrong = bag.answer(TEXTS).exp() - F.one_hot(labels, 3)
    torch.testing.assert_close(bag.weight.grad, worth.T @ wrong + 2 * 0.3 * bag.weight)
    torch.testing.assert_close(bag.bias.grad, wrong.sum(dim=0))


def test_logistic_regression_finds_what_is_known_on_paper() -> None:
    """One word is in 3 of 4 texts of class 1 and 1 of 4 of class 0: the odds are 3 with it and 1/3 without."""
    rows = torch.tensor([[4], [4], [4], [6], [4], [6], [6], [6]])
    labels = torch.tensor([1, 1, 1, 1, 0, 0, 0, 0])
    bag = Bag(BagOptions(ngrams=1, l2=0.0), 9, torch.tensor([5]), 2).double()
    texts = TextRows(rows, torch.ones(8, dtype=torch.int64))
    solver = torch.optim.LBFGS(bag.parameters(), max_iter=50, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        solver.zero_grad()
        loss = F.nll_loss(bag.answer(texts), labels)
        loss.backward()
        return loss

    solver.step(closure)
    probabilities = bag.answer(texts).exp()[:, 1].detach()
    expected = torch.tensor([0.75, 0.25], dtype=torch.float64)
    torch.testing.assert_close(probabilities[[0, 3]], expected, rtol=1e-4, atol=1e-4)
