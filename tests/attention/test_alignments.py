"""Alignments: Pharaoh's format, links from weights, and the error rate computed by hand."""

import math
import re

import pytest
import torch

from regard.attention.alignments import Alignment, AlignmentErrors, alignment_errors, links, read_alignments
from regard.base.faults import Fault


def test_pharaohs_format() -> None:
    first, second, third = read_alignments(["0-0 1p2 2-1\n", "", "10-3"])
    assert first == Alignment(frozenset({(0, 0), (2, 1)}), frozenset({(0, 0), (2, 1), (1, 2)}))
    assert second == Alignment(frozenset(), frozenset())
    assert third.sure == {(10, 3)}


@pytest.mark.parametrize("written", ["0-", "a-1", "1:2", "-1-2", "1-2-3", "²-1"])
def test_what_is_no_link_is_refused(written: str) -> None:
    with pytest.raises(Fault, match=f"Line 2 of the alignments has '{written}', which is not a link such as 0-0"):
        read_alignments(["0-0", f"1-1 {written}"])


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("0-0 2-1", "Line 2 of the alignments has the link 2-1, but the source has 2 words, counted from 0."),
        ("1-1 1p3", "Line 2 of the alignments has the link 1p3, but the target has 3 words, counted from 0."),
        ("9-9", "Line 2 of the alignments has the link 9-9, but the source has 2 words"),
    ],
)
def test_a_link_outside_its_sentence_is_refused_with_its_line(written: str, sentence: str) -> None:
    _, alignment = read_alignments(["0-0", written])
    with pytest.raises(Fault, match=re.escape(sentence)):
        alignment.check_within(source_words=2, target_words=3)
    alignment.check_within(10, 10)
    with pytest.raises(Fault, match="An alignment has the link 0-0, but the target has 0 words"):
        Alignment(frozenset({(0, 0)}), frozenset({(0, 0)})).check_within(1, 0)


def test_the_error_rate_on_paper() -> None:
    """A = {00, 11, 23}, S = {00, 12}, P = S and {11}: |A ∩ S| = 1, |A ∩ P| = 2, so AER = 1 − 3/5."""
    (alignment,) = read_alignments(["0-0 1-2 1p1"])
    errors = alignment_errors([(0, 0), (1, 1), (2, 3)], alignment)
    assert errors == AlignmentErrors(found=3, sure=2, found_sure=1, found_possible=2)
    assert errors.rate == pytest.approx(1 - 3 / 5)
    assert errors.precision == pytest.approx(2 / 3)
    assert errors.recall == pytest.approx(1 / 2)


def test_all_right_is_no_error_and_pairs_add_up_before_dividing() -> None:
    alignments = read_alignments(["0-0", "0-1 1-0 2-2"])
    right, wrong = alignment_errors({(0, 0)}, alignments[0]), alignment_errors({(0, 0)}, alignments[1])
    assert right.rate == 0
    assert wrong.rate == 1
    assert (right + wrong).rate == pytest.approx(1 - 2 / (2 + 4))
    assert math.isnan(AlignmentErrors().rate)
    assert math.isnan(AlignmentErrors().precision)
    assert math.isnan(AlignmentErrors().recall)


def test_links_join_the_tokens_of_a_word() -> None:
    """The first target word is tokens 0 and 1. Source word 1 (tokens 1 and 2) has a larger sum than any token."""
    weights = torch.tensor(
        [
            [0.4, 0.3, 0.3, 0.0],
            [0.4, 0.3, 0.3, 0.0],
            [0.6, 0.2, 0.1, 0.1],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    assert links(weights, [0, 0, 1], [0, 1, 1]) == {(1, 0), (0, 1)}  # the last row and column are the ends
    assert links(weights, [0, 1, 2], [0, 1, 2]) == {(0, 0), (0, 1), (0, 2)}
    assert links(weights, [0, -1, 1], [-1, 0, 1]) == {(0, 0), (0, 1)}


def test_who_looks_at_no_word_has_no_link() -> None:
    assert links(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), [0, 1], [0, -1]) == {(0, 1)}
    assert links(torch.ones(2, 2), [-1, -1], [0, 1]) == frozenset()
    assert links(torch.ones(2, 2), [0, 1], []) == frozenset()
