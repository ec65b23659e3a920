"""The table that all benchmarks share: a ratio above 1 is faster, by the clock and by the core."""

import os
import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return runpy.run_path(str(BENCHMARKS / "table.py"))


def test_contenders_take_turns_and_the_first_round_does_not_count(table: dict) -> None:
    order: list[str] = []

    def contender(name: str, work: float):
        def run() -> float:
            order.append(name)
            return work

        return run

    ticks = iter(range(100))
    rates = table["in_turns"]({"a": contender("a", 6.0), "b": contender("b", 3.0)}, 2, lambda: float(next(ticks)))
    assert order == ["a", "b"] * 3
    assert (rates["a"].core, rates["b"].core) == (6.0, 3.0)  # one tick each


def test_a_ratio_is_ours_over_theirs(table: dict, capsys: pytest.CaptureFixture[str]) -> None:
    rate = table["Rate"]
    rows = table["against"]("training", rate(3000.0, 50.0), {"a peer": rate(2000.0, 100.0)}, "tokens")
    table["show"](rows)
    captured = capsys.readouterr()
    assert captured.err == "training, a peer: 1.50\n"
    assert captured.out.splitlines()[-1] == "| training | a peer | 1.50 | 0.50 | 3,000 | 2,000 | tokens |"


def test_every_benchmark_of_the_table_is_there(table: dict) -> None:
    names = table["BENCHMARKS"]
    assert all((BENCHMARKS / f"{name}.py").is_file() for name in names)
    assert all("def ratios(" in (BENCHMARKS / f"{name}.py").read_text(encoding="utf-8") for name in names)
    assert "table" not in names
    assert str(BENCHMARKS) in sys.path


def test_what_cannot_be_measured_here_is_passed_over_and_said(
    table: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lacking.py").write_text("import no_such_package\n")
    (tmp_path / "without_data.py").write_text(
        "from regard.base.faults import Fault\n\ndef ratios():\n    raise Fault('There is no text.')\n    yield\n"
    )
    (tmp_path / "there.py").write_text("def ratios():\n    yield 'a ratio'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(table["all_ratios"](["lacking", "without_data", "there"])) == ["a ratio"]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("lacking is passed over: No module named 'no_such_package'")
    assert lines[1] == "without_data is passed over: There is no text."


def test_scoring_hides_data_sets_from_itself_alone(table: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", "here")
    metrics = runpy.run_path(str(BENCHMARKS / "metrics.py"))
    assert len(list(metrics["ratios"]([20]))) >= 3
    assert os.environ["REGARD_DATA"] == "here"


def test_every_benchmark_is_told_of_and_says_what_it_takes() -> None:
    readme = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    for path in BENCHMARKS.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert f"benchmarks/{path.name}" in readme, path.name
        if '__name__ == "__main__"' in text:
            assert "ArgumentParser(" in text or "run_alone(__doc__" in text, path.name
