"""The attention that aligns words best, and its error rate, on known weights and for every translator."""

from pathlib import Path

import pytest
import torch
from toys import open_trained_toy

from regard.attention.alignments import AlignmentErrors, read_alignments
from regard.attention.watch import Gaze
from regard.base.faults import Fault
from regard.verbs.translate.aligning import Aligner, best_aligner, count_errors, usual_aligner

PAIRS = [("I love books.", "Eu amo livros."), ("Ana sleeps.", "Ana dorme.")]
LINKS = read_alignments(["0-0 1-1 2-2", "0-0 1-1"])


def test_weights_of_a_head_of_the_mean_and_of_the_step_after() -> None:
    weights = torch.rand(1, 2, 3, 4, dtype=torch.float64)
    gaze = Gaze("here", "target", "source", weights)
    assert torch.equal(Aligner("here", 1).weights(gaze, 0), weights[0, 1])
    assert torch.equal(Aligner("here").weights(gaze, 0), (weights[0, 0] + weights[0, 1]) / 2)
    assert torch.equal(Aligner("here", 0, later=True).weights(gaze, 0), weights[0, 0, 1:])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", ["transformer", "seq2seq", "online", "ctc-text"])
def test_every_translator_that_attends_aligns(family: str, tmp_path: Path) -> None:
    task = open_trained_toy(family, tmp_path).task
    errors = count_errors(task, PAIRS, LINKS)
    assert usual_aligner(task).where in {aligner.where for aligner in errors}
    for error in errors.values():
        assert error.sure == 5
        assert 0 < error.found <= 5
        assert 0 <= error.rate <= 1
    best = best_aligner(task, PAIRS, LINKS)
    assert errors[best].rate == min(error.rate for error in errors.values())
    assert count_errors(task, PAIRS, LINKS, best) == {best: errors[best]}  # alone as among the others
    apart = [count_errors(task, [pair], [links], best)[best] for pair, links in zip(PAIRS, LINKS, strict=True)]
    assert sum(apart, AlignmentErrors()) == errors[best]


def test_what_does_not_attend_is_refused(tmp_path: Path) -> None:
    task = open_trained_toy("seq2seq", tmp_path, decoder="bottleneck").task
    with pytest.raises(Fault, match="This model has no attention to its source, so it aligns no words"):
        best_aligner(task, PAIRS, LINKS)


def test_links_outside_their_pair_are_refused(tmp_path: Path) -> None:
    task = open_trained_toy("seq2seq", tmp_path).task
    with pytest.raises(Fault, match="Line 2 of the alignments has the link 2-0, but the source has 2 words"):
        count_errors(task, PAIRS, read_alignments(["0-0", "2-0"]))
