"""The benchmark of students: a model whose training was cut is not scored."""

import runpy
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from regard.runs.start import StartedRun

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "students.py"


@pytest.mark.parametrize("kind", ["teacher", "student"])
def test_a_run_that_was_cut_has_no_scores(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = runpy.run_path(str(BENCHMARK))
    names = benchmark["run_job"].__globals__
    scored: list[Path] = []

    def cut(*arguments: Any) -> StartedRun:
        return StartedRun(tmp_path, interrupted=True)

    for name, function in {
        "start_training": cut,
        "train_student": cut,
        "load_translation_model": scored.append,
    }.items():
        monkeypatch.setitem(names, name, function)
    (tmp_path / "multi30k-teaching-best-1" / "teaching").mkdir(parents=True)
    asked = Namespace(out=tmp_path, lines=None, steps=None, set_teacher=[], set_student=[], seeds=[1], workers=1)
    asked.one_teacher = False
    job = benchmark["Job"]("multi30k", kind, 1, *(("best", "tiny") if kind == "student" else ()))
    with pytest.raises(SystemExit):
        benchmark["run_job"](job, asked)
    assert not scored
