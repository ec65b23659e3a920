"""Reports on heads: answers computed by hand, and sums that do not depend on how batches are cut."""

import math

import pytest
import torch
from attention_cases import draw
from torch import Tensor

from regard.attention import Gaze
from regard.attention.alignments import AlignmentErrors, read_alignments
from regard.attention.reports import HeadReport, alignment_report, merge_reports, rank_heads, report
from regard.base.faults import Fault


def gaze(weights: Tensor, looks_from: str = "target", where: str = "look") -> Gaze:
    return Gaze(where, looks_from, "source", weights)


def lengths(target: list[int], source: list[int]) -> dict[str, Tensor]:
    return {"target": torch.tensor(target), "source": torch.tensor(source)}


def test_entropy_on_paper() -> None:
    """One head looks at one place, the other evenly at four: 0 and log 4 nats, none and all of the maximum."""
    sharp, even = torch.eye(4), torch.full((4, 4), 0.25)
    heads = report([gaze(torch.stack([sharp, even])[None])], lengths([4], [4]))
    assert [head.entropy for head in heads] == pytest.approx([0, math.log(4)])
    assert [head.entropy_share for head in heads] == pytest.approx([0, 1])
    assert [(head.where, head.head, head.looks) for head in heads] == [("look", 0, 4), ("look", 1, 4)]


def test_the_diagonal_on_paper() -> None:
    """One of four even weights is on the diagonal. Of ten, those within a tenth of the sentence count."""
    even = report([gaze(torch.full((1, 1, 4, 4), 0.25))], lengths([4], [4]))
    assert even[0].diagonal == pytest.approx(0.25)
    ten = report([gaze(torch.full((1, 1, 10, 10), 0.1))], lengths([10], [10]))
    assert ten[0].diagonal == pytest.approx((8 * 3 + 2 * 2) / 100)
    straight = report([gaze(torch.eye(10)[None, None])], lengths([10], [10]))
    assert straight[0].diagonal == 1
    crossed = report([gaze(torch.eye(10).flip(0)[None, None])], lengths([10], [10]))
    assert crossed[0].diagonal == pytest.approx(0.2)  # the two in the middle


def test_a_diagonal_fits_sentences_of_different_lengths() -> None:
    """Two queries over four keys: each stands for the two keys of its half."""
    weights = torch.tensor([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    assert report([gaze(weights[None, None])], lengths([2], [4]))[0].diagonal == 1
    assert report([gaze(weights.T[None, None] * 2)], lengths([4], [2]))[0].diagonal == 1


def test_a_wider_band_holds_more() -> None:
    weights = [gaze(torch.full((1, 1, 10, 10), 0.1))]
    narrow, wide = (report(weights, lengths([10], [10]), band)[0].diagonal for band in (0.1, 0.2))
    assert wide > narrow


def test_padding_counts_for_nothing() -> None:
    weights = draw(1, 2, 5, 6).softmax(-1)
    weights[..., 4:] = 0
    padded = report([gaze(weights)], lengths([3], [4]))
    alone = report([gaze(weights[:, :, :3, :4])], lengths([3], [4]))
    assert padded == alone
    assert padded[0].looks == 3
    weights[..., 4:] = 7  # for models that do not mask
    assert report([gaze(weights)], lengths([3], [4]))[0].entropy == pytest.approx(padded[0].entropy)


def test_who_looks_nowhere_is_not_counted() -> None:
    weights = torch.full((1, 1, 2, 2), 0.5)
    weights[0, 0, 1] = 0
    (head,) = report([gaze(weights)], lengths([2], [2]))
    assert (head.looks, head.entropy) == (1, pytest.approx(math.log(2)))
    nothing = HeadReport("look", 0)
    assert all(math.isnan(value) for value in (nothing.entropy, nothing.entropy_share, nothing.diagonal))


def test_looking_back_there_are_as_many_choices_as_places() -> None:
    """Even weights over all visible places give the maximum entropy. The first place has no choice."""
    even_back = torch.ones(4, 4).tril() / torch.arange(1, 5)[:, None]
    (head,) = report([Gaze("look", "source", "source", even_back[None, None])], lengths([4], [4]))
    assert head.entropy_share == pytest.approx(1)
    assert (head.looks, head.choices) == (4, 3)


def test_batches_add_up_however_they_are_cut() -> None:
    weights, targets, sources = draw(4, 2, 5, 6).softmax(-1), [5, 2, 4, 1], [6, 3, 5, 2]
    whole = report([gaze(weights)], lengths(targets, sources))
    parts = [
        head
        for part in (slice(0, 1), slice(1, 4))
        for head in report([gaze(weights[part])], lengths(targets[part], sources[part]))
    ]
    for one, other in zip(whole, merge_reports(parts), strict=True):
        assert (one.looks, one.choices) == (other.looks, other.choices)
        assert one.entropy == pytest.approx(other.entropy)
        assert one.entropy_share == pytest.approx(other.entropy_share)
        assert one.diagonal == pytest.approx(other.diagonal)


def test_heads_against_given_alignments() -> None:
    """Head 0 follows the words, and head 1 goes against them. The end of the sentence is not a word."""
    straight = torch.eye(3)
    weights = torch.stack([straight, straight.flip(1)])[None]
    words, alignments = {"target": [[0, 1]], "source": [[0, 1]]}, read_alignments(["0-0 1-1"])
    heads = alignment_report([gaze(weights), gaze(weights, looks_from="source")], words, alignments)
    assert [head.alignment for head in heads] == [AlignmentErrors(2, 2, 2, 2), AlignmentErrors(1, 2, 1, 1)]
    assert [head.alignment.rate for head in heads] == pytest.approx([0, 1 - 2 / 3])
    both = merge_reports([*report([gaze(weights)], lengths([3], [3])), *heads])
    assert (both[0].looks, both[0].alignment.rate) == (3, 0)


def test_links_to_words_that_a_pair_has_not_are_refused() -> None:
    words = {"target": [[0, 1], [0, -1]], "source": [[0, 1], [0, 0]]}
    weights = gaze(torch.full((2, 1, 3, 3), 1 / 3))
    alignment_report([weights], words, read_alignments(["1-1", "0-0"]))
    with pytest.raises(Fault, match="Line 2 of the alignments has the link 1-0, but the source has 1 word, counted"):
        alignment_report([weights], words, read_alignments(["1-1", "1-0"]))


def test_ranks() -> None:
    sharp, straight, aligned = (
        HeadReport("a", 0, 1, 0.0, 0.1, 1, 0.0),
        HeadReport("b", 0, 1, 0.9, 0.9, 1, 0.9),
        HeadReport("c", 0, 1, 0.5, 0.5, 1, 0.5, AlignmentErrors(1, 1, 1, 1)),
    )
    heads = [straight, HeadReport("unmeasured", 0), aligned, sharp]
    assert [head.where for head in rank_heads(heads)] == ["a", "c", "b", "unmeasured"]
    assert [head.where for head in rank_heads(heads, by="diagonal")] == ["b", "c", "a", "unmeasured"]
    assert rank_heads(heads, by="alignment")[0].where == "c"


def test_only_the_same_head_adds() -> None:
    with pytest.raises(ValueError, match="head 0 of a is not head 1 of a"):
        HeadReport("a", 0) + HeadReport("a", 1)


def test_looks_along_edges_on_paper() -> None:
    """One node looks evenly at two others, one at a single node, one at one of two. Nodes have no diagonal."""
    edges = torch.tensor([[0, 0, 4, 7, 7], [1, 2, 4, 0, 7]])
    weights = torch.tensor([0.5, 0.5, 1.0, 0.0, 1.0]).expand(2, 1, 5)
    (head,) = report([Gaze("layers.0", "nodes", "nodes", weights, edges)], {})
    assert (head.looks, head.choices) == (2 * 3, 2 * 2)
    assert head.entropy == pytest.approx(math.log(2) / 3)
    assert head.entropy_share == pytest.approx(1 / 2)
    assert math.isnan(head.diagonal)
