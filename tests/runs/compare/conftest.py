"""Fixtures that tests of comparisons share."""

from pathlib import Path

import pytest
from judged_runs import outcome

from regard.runs.compare.findings import find
from regard.runs.compare.lengths import buckets
from regard.runs.compare.plan import CompareOptions, ComparisonPlan, make_plan
from regard.runs.compare.report import Comparison
from regard.runs.compare.request import asked_for


@pytest.fixture
def small(tmp_path: Path) -> ComparisonPlan:
    """Return two variants of a recipe on a few sentences."""
    for language, text in (("en", "a b\nc d\ne f\n"), ("pt", "A B\nC D\nE F\n")):
        (tmp_path / f"few.{language}").write_text(text, encoding="utf-8")
    files = [str(tmp_path / "few.en"), str(tmp_path / "few.pt")]
    data = {"train": files, "valid": files, "cleaning": {"leakage": False}, "tokeniser": {"kind": "bytes"}}
    return make_plan(asked_for({"data": data}, ["model.norm=before,after"], [], {"seeds": 2}), "small")


@pytest.fixture
def comparison(small: ComparisonPlan) -> Comparison:
    """Three sentences of one word and three of two; the second variant is right twice as often."""
    plan = ComparisonPlan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    runs = plan.runs(Path("out"))
    outcomes = [outcome(run, right) for run, right in zip(runs, ("++----", "+++++-", "+-+---", "+++++-"), strict=True)]
    lengths = buckets(["w", "w", "w", "w w", "w w", "w w"])
    return Comparison("small", "model.norm", "test", 6, 1, lengths, find(plan, outcomes, lengths))
