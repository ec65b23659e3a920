"""The table that all benchmarks share: who is faster is above 1, by the clock and by the core."""

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
    assert (rates["a"].core, rates["b"].core) == (6.0, 3.0)  # a tick each


def test_a_ratio_is_ours_over_theirs(table: dict, capsys: pytest.CaptureFixture[str]) -> None:
    rate = table["Rate"]
    found = table["against"]("training", rate(3000.0, 50.0), {"a peer": rate(2000.0, 100.0)}, "tokens")
    table["show"](found)
    said = capsys.readouterr()
    assert said.err == "training, a peer: 1.50\n"
    assert said.out.splitlines()[-1] == "| training | a peer | 1.50 | 0.50 | 3,000 | 2,000 | tokens |"


def test_every_benchmark_of_the_table_is_there(table: dict) -> None:
    names = table["BENCHMARKS"]
    assert all((BENCHMARKS / f"{name}.py").is_file() for name in names)
    assert all("def ratios(" in (BENCHMARKS / f"{name}.py").read_text(encoding="utf-8") for name in names)
    assert "table" not in names
    assert str(BENCHMARKS) in sys.path
