"""Rules on the next token, by hand."""

import math
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, occurs
from regard.decoding.rules import Rules, penalise_repeats, unforbidden, unrepeated_mask

sys.path.insert(0, str(Path(__file__).parent))
from tables import END

VOCABULARY = 6
EVEN = torch.full((1, VOCABULARY), math.log(1 / VOCABULARY), dtype=torch.float64)


def may_follow(written: list[int], limit: int = 9, demands: Demands | None = None, **options: float) -> set[int]:
    """Return the tokens that may follow these, where the model finds all equally probable."""
    values = ruled(EVEN, written, limit, demands, **options)
    assert set(values[values.isfinite()].tolist()) <= {EVEN[0, 0].item()}  # forbidding changes no other value
    return set(values.isfinite().nonzero().flatten().tolist())


def ruled(given: Tensor, written: list[int], limit: int, demands: Demands | None, **options: float) -> Tensor:
    rules = Rules(DecodingOptions(**options), demands or Demands(), END, torch.tensor([limit]))
    return rules(given, torch.tensor([written], dtype=torch.long), torch.tensor([0]))[0]


def test_without_rules_everything_may_follow_unchanged() -> None:
    assert may_follow([2, 3]) == set(range(VOCABULARY))


def test_repetition_penalty_multiplies_the_logarithm_of_what_was_written() -> None:
    """A probability of a half penalised by 2 is a quarter."""
    log_probabilities = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64).log()
    probabilities = penalise_repeats(log_probabilities, torch.tensor([[0, 0]]), 2.0).exp()
    assert probabilities[0].tolist() == pytest.approx([0.25, 0.25, 0.25])
    by_rules = ruled(log_probabilities, [0], 9, None, repetition_penalty=2.0).exp()
    assert by_rules.tolist() == pytest.approx([0.25, 0.25, 0.25])


@pytest.mark.parametrize(
    ("written", "size", "blocked"),
    [
        ([2, 3, 4, 2, 3], 3, {4}),  # 2 3 4 would occur again
        ([2, 3, 4, 2, 3], 2, {4}),
        ([2, 3, 2, 4, 2], 2, {3, 4}),
        ([2, 2], 2, {2}),  # overlapping itself
        ([2, 4], 1, {2, 4}),
        ([2], 2, set()),
        ([], 1, set()),
    ],
)
def test_unrepeated(written: list[int], size: int, blocked: set[int]) -> None:
    mask = unrepeated_mask(torch.tensor([written], dtype=torch.long), size, VOCABULARY)
    assert set((~mask[0]).nonzero().flatten().tolist()) == blocked
    assert may_follow(written, unrepeated=size) == set(range(VOCABULARY)) - blocked


@pytest.mark.parametrize(
    ("written", "blocked"), [([], {5}), ([2], {5, 3}), ([2, 3], {5, 4}), ([3, 2], {5, 3}), ([4, 4], {5})]
)
def test_forbidden_phrases_lack_their_last_token(written: list[int], blocked: set[int]) -> None:
    demands = Demands(forbidden=[[2, 3], [5], [2, 3, 4]])
    assert may_follow(written, demands=demands) == set(range(VOCABULARY)) - blocked
    if len(written) == 2:
        mask = unforbidden(torch.tensor([written]), torch.tensor([[2, 3, 4]]), VOCABULARY)
        assert (mask[0, 4].item() is False) == (written == [2, 3])


def test_a_restricted_vocabulary_always_has_the_end() -> None:
    assert may_follow([], demands=Demands(allowed=[2, 4])) == {2, 4, END}
    assert may_follow([], demands=Demands(allowed=[])) == {END}


def test_no_end_before_the_shortest_length() -> None:
    assert END not in may_follow([2], shortest=2)
    assert END in may_follow([2, 3], shortest=2)


def test_the_end_comes_early_rather_than_nothing() -> None:
    assert may_follow([2], shortest=5, demands=Demands(allowed=[2]), unrepeated=1) == {END}


def test_at_the_limit_an_output_must_end() -> None:
    assert may_follow([2, 3], limit=3, shortest=7) == {END}


def test_a_prefix_is_written_whatever_is_forbidden() -> None:
    demands = Demands(prefixes=[[2, 2, 3]], forbidden=[[2]], allowed=[4])
    assert may_follow([], demands=demands) == {2}
    assert may_follow([2, 2], demands=demands, shortest=9, unrepeated=1) == {3}
    assert may_follow([2, 2, 3], demands=demands) == {4, END}


def test_each_row_has_the_prefix_and_limit_of_its_sentence() -> None:
    rules = Rules(DecodingOptions(), Demands(prefixes=[[2], [], [4, 5]]), END, torch.tensor([8, 1, 8]))
    values = rules(EVEN.expand(4, -1), torch.empty(4, 0, dtype=torch.long), torch.tensor([0, 2, 1, 2]))
    assert [set(row.isfinite().nonzero().flatten().tolist()) for row in values] == [{2}, {4}, {END}, {4}]


@pytest.mark.parametrize(
    ("demands", "words"),
    [
        (Demands(prefixes=[[2, 3, 4]]), "Text 1: its prefix has 3 tokens, but its output may have 3"),
        (Demands(forbidden=[[2], []]), "is empty. Give it at least one token"),
        (Demands(forbidden=[[2, END]]), "contains the end token"),
        (Demands(prefixes=[[END]]), "contains the end token"),
    ],
)
def test_refusals(demands: Demands, words: str) -> None:
    with pytest.raises(Fault, match=words):
        Rules(DecodingOptions(), demands, END, torch.tensor([3]))


def test_demands_for_another_number_of_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="2 prefixes were given for 1 sentences"):
        Rules(DecodingOptions(), Demands(prefixes=[[2], [3]]), END, torch.tensor([3]))


def test_occurs_means_unbroken() -> None:
    assert occurs([2, 3], [4, 2, 3])
    assert not occurs([2, 3], [2, 4, 3])
    assert not occurs([2, 3], [2])
