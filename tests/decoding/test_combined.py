"""Ensembles and fusion of models."""

import sys
from pathlib import Path

import pytest
import torch

from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.combined import Ensemble, Fused
from regard.decoding.hypothesis_scores import Covers
from regard.decoding.options import DecodingOptions
from regard.decoding.sampling import sample
from regard.protocols import Stepwise

sys.path.insert(0, str(Path(__file__).parent))
from tables import Looking, Table, fixed, random_table

ALL, LIMITS = torch.arange(4), torch.tensor([5, 3, 4, 5])
OPTIONS = DecodingOptions(beam=3, n_best=3)


def first_step(task: Stepwise) -> list[float]:
    log_probabilities, _ = task.step(torch.tensor([0]), task.start(torch.tensor([0])))
    return log_probabilities[0].exp().tolist()


@pytest.mark.parametrize("mean", ["probability", "log"])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_an_ensemble_of_equals_is_each_of_them(mean: str, copies: int) -> None:
    task = random_table(1, 4, 7)
    together = beam_search(Ensemble([task] * copies, mean), ALL, LIMITS, OPTIONS)
    for hypotheses, expected in zip(together, beam_search(task, ALL, LIMITS, OPTIONS), strict=True):
        assert [hypothesis.tokens for hypothesis in hypotheses] == [hypothesis.tokens for hypothesis in expected]
        assert [hypothesis.score for hypothesis in hypotheses] == pytest.approx(
            [hypothesis.score for hypothesis in expected], rel=1e-12
        )


def test_means_on_paper() -> None:
    """The mean of 0.1 and 0.5 is 0.3; the roots of 0.1 · 0.5 and 0.9 · 0.5 relate as 1 to 3."""
    tasks = [fixed(0.1, 0.9), fixed(0.5, 0.5)]
    assert first_step(Ensemble(tasks)) == pytest.approx([0.3, 0.7])
    assert first_step(Ensemble(tasks, "log")) == pytest.approx([0.25, 0.75])


def test_what_one_rules_out_the_logarithms_rule_out() -> None:
    tasks = [fixed(0.0, 0.5, 0.5), fixed(0.5, 0.25, 0.25)]
    assert first_step(Ensemble(tasks)) == pytest.approx([0.25, 0.375, 0.375])
    assert first_step(Ensemble(tasks, "log")) == pytest.approx([0.0, 0.5, 0.5])


def test_every_model_keeps_its_own_state() -> None:
    """The mean of two tables is the table of their means, because neither sees the other's state."""
    tables = [random_table(seed, 4, 6).table for seed in (2, 3)]
    mean = Table(torch.stack(tables).exp().mean(dim=0).log())
    expected = beam_search(mean, ALL, LIMITS, OPTIONS)
    hypotheses = beam_search(Ensemble([Table(table) for table in tables]), ALL, LIMITS, OPTIONS)
    assert [[hypothesis.tokens for hypothesis in several] for several in hypotheses] == [
        [hypothesis.tokens for hypothesis in several] for several in expected
    ]
    options = DecodingOptions.model_validate({"sampling": {"samples": 4}})
    assert [
        [hypothesis.tokens for hypothesis in several] for several in sample(Ensemble([mean]), ALL, LIMITS, options)
    ] == [[hypothesis.tokens for hypothesis in several] for several in sample(mean, ALL, LIMITS, options)]


def test_fusion_on_paper() -> None:
    """0.2 · 0.9^2 and 0.8 · 0.1^2, not normalised."""
    fused = Fused(fixed(0.2, 0.8), fixed(0.9, 0.1), 2.0)
    assert first_step(fused) == pytest.approx([0.162, 0.008])


def test_fusion_of_weight_nothing_is_the_model() -> None:
    task = random_table(4, 4, 6)
    assert beam_search(Fused(task, fixed(0, 1, 0, 0, 0, 0), 0.0, lambda batch: batch * 0), ALL, LIMITS, OPTIONS) == (
        beam_search(task, ALL, LIMITS, OPTIONS)
    )


def test_the_language_model_begins_with_its_own_context() -> None:
    other = random_table(5, 4, 6)
    everywhere = Table(other.table[2:3].expand(4, -1, -1, -1))
    task = random_table(6, 4, 6)
    by_context = beam_search(Fused(task, other, 0.5, lambda batch: torch.full_like(batch, 2)), ALL, LIMITS, OPTIONS)
    assert by_context == beam_search(Fused(task, everywhere, 0.5), ALL, LIMITS, OPTIONS)
    assert by_context != beam_search(Fused(task, other, 0.5), ALL, LIMITS, OPTIONS)


def test_coverage_is_of_those_that_look() -> None:
    task = Looking(random_table(7, 4, 6).table)
    options = DecodingOptions(beam=3, n_best=3, coverage_penalty=0.5)
    alone = beam_search(task, ALL, LIMITS, options)
    assert isinstance(Fused(task, random_table(8, 4, 6), 0.0), Covers)
    assert beam_search(Fused(task, random_table(8, 4, 6), 0.0), ALL, LIMITS, options) == alone
    assert beam_search(Ensemble([task]), ALL, LIMITS, options) == alone
    with pytest.raises(Fault, match="One of the combined models does not record its attention"):
        beam_search(Ensemble([task, random_table(8, 4, 6)]), ALL, LIMITS, options)


def test_refusals() -> None:
    with pytest.raises(Fault, match="at least one model"):
        Ensemble([])
    with pytest.raises(Fault, match="need one vocabulary, but these have 6, 7 tokens"):
        beam_search(Ensemble([random_table(0, 4, 6), random_table(0, 4, 7)]), ALL, LIMITS, OPTIONS)
    with pytest.raises(Fault, match="need one vocabulary"):
        beam_search(Fused(random_table(0, 4, 6), random_table(0, 4, 7), 0.1), ALL, LIMITS, OPTIONS)
    with pytest.raises(Fault, match="the same begin and end"):
        Ensemble([fixed(0.5, 0.5), Table(fixed(0.5, 0.5).table, end=0)])
