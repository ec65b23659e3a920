"""What tests of comparisons share."""

from pathlib import Path

import pytest

from regard.runs.compare.plan import ComparisonPlan, make_plan
from regard.runs.compare.request import asked_for


@pytest.fixture
def small(tmp_path: Path) -> ComparisonPlan:
    """Two variants of a recipe of a few sentences."""
    for language, text in (("en", "a b\nc d\ne f\n"), ("pt", "A B\nC D\nE F\n")):
        (tmp_path / f"few.{language}").write_text(text, encoding="utf-8")
    files = [str(tmp_path / "few.en"), str(tmp_path / "few.pt")]
    data = {"train": files, "valid": files, "cleaning": {"leakage": False}, "tokeniser": {"kind": "bytes"}}
    return make_plan(asked_for({"data": data}, ["model.norm=before,after"], [], {"seeds": 2}), "small")
