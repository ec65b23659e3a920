"""The folder of a comparison: its owner, its lock, and the text that its runs share."""

import fcntl
import json
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import read_table
from regard.runs import open as runs
from regard.runs.compare import comparison_folder
from regard.runs.compare.plan import ComparisonPlan, make_plan
from regard.runs.compare.request import asked_for
from regard.training.checkpoint import RunFolder


def test_a_folder_with_something_else_is_refused_and_kept(small: ComparisonPlan, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x", encoding="utf-8")
    for resume, overwrite in ((False, False), (True, False), (False, True)):
        with (
            pytest.raises(Fault, match="exists and is not a comparison made by regard"),
            comparison_folder.open_comparison(small, tmp_path / "mine", resume, overwrite),
        ):
            pass
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    with (
        pytest.raises(Fault, match="is a file; name a folder"),
        comparison_folder.open_comparison(small, tmp_path / "few.en", False, False),
    ):
        pass


def test_a_comparison_is_resumed_with_its_own_variants_or_more(small: ComparisonPlan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with comparison_folder.open_comparison(small, out, False, False):
        assert make_plan(read_table(out / "comparison.toml"), "small").variants == small.variants
    with (
        pytest.raises(Fault, match="already holds a comparison"),
        comparison_folder.open_comparison(small, out, False, False),
    ):
        pass
    base = {name: value for name, value in small.table.items() if name != "compare"}
    more = make_plan(asked_for(base, ["model.norm=before,after", "model.width=128,64"], [], {}), "small")
    with (
        pytest.raises(Fault, match="compares before, after and cannot be resumed without before, after"),
        comparison_folder.open_comparison(more, out, True, False),
    ):
        pass
    grown = make_plan(asked_for(base, [], ["before: model.norm=before", "after:", "x: model.width=64"], {}), "small")
    with comparison_folder.open_comparison(grown, out, True, False):
        pass


def test_two_processes_do_not_compare_in_one_folder(small: ComparisonPlan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with comparison_folder.open_comparison(small, out, False, False), (out / ".lock").open("ab") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (
            pytest.raises(Fault, match="Another process is comparing in"),
            comparison_folder.open_comparison(small, out, True, False),
        ):
            pass


def test_overwriting_removes_the_runs_but_none_that_is_being_trained(small: ComparisonPlan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = RunFolder(small.runs(out)[0].folder)
    with comparison_folder.open_comparison(small, out, False, False):
        run.begin()
    with (
        runs.locked_run(run),
        pytest.raises(Fault, match="Another process is training"),
        comparison_folder.open_comparison(small, out, False, True),
    ):
        pass
    assert run.is_ours()
    with comparison_folder.open_comparison(small, out, False, True):
        assert sorted(path.name for path in out.iterdir()) == [".lock", "comparison.toml"]


def test_text_is_prepared_once_and_is_each_run_s_own(small: ComparisonPlan, tmp_path: Path) -> None:
    planned_runs = small.runs(tmp_path / "out")
    comparison_folder.prepare_text(planned_runs, tmp_path / "out", "valid", silent)
    [shared] = (tmp_path / "out" / "corpora").iterdir()
    for run in planned_runs:
        record = run.folder / "training" / "corpus" / "finished.json"
        assert record.samefile(shared / "finished.json")
    comparison_folder.prepare_text(planned_runs, tmp_path / "out", "valid", silent)


def test_variants_with_other_test_data_are_refused(small: ComparisonPlan, tmp_path: Path) -> None:
    turned = json.dumps([str(tmp_path / "few.pt"), str(tmp_path / "few.en")])
    base = {name: value for name, value in small.table.items() if name != "compare"}
    plan = make_plan(asked_for(base, [], ["as it is:", f"turned: data.valid={turned}"], {}), "small")
    with pytest.raises(Fault, match="The variants have different valid data"):
        comparison_folder.prepare_text(plan.runs(tmp_path / "out"), tmp_path / "out", "valid", silent)
