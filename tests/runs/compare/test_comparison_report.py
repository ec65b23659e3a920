"""Results of a comparison: lengths, the table, its notes, and stored files."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from judged_runs import outcome

from regard.metrics import Score
from regard.metrics.significance import Sums
from regard.runs.compare import running
from regard.runs.compare.findings import Failure, find
from regard.runs.compare.formats import text_for
from regard.runs.compare.lengths import MOST_BUCKETS, buckets
from regard.runs.compare.page import length_table, notes, page, table
from regard.runs.compare.plan import CompareOptions, ComparisonPlan
from regard.runs.compare.report import Comparison
from regard.runs.compare.running import keep, keep_losses
from regard.training.checkpoint import RunFolder
from regard.training.snapshot import Facts


def test_buckets_on_paper() -> None:
    sources = [" ".join(["w"] * length) for length in itertools.chain(range(1, 101), [50] * 100)]
    bounds = buckets(sources)
    assert [(bucket.shortest, bucket.longest, len(bucket.sentences)) for bucket in bounds] == [
        (1, 25, 25),
        (26, 50, 125),
        (51, 75, 25),
        (76, 100, 25),
    ]
    assert bounds[1].label == "26–50"
    assert sorted(np.concatenate([bucket.sentences for bucket in bounds]).tolist()) == list(range(200))


def test_few_sentences_make_few_buckets_and_words_are_what_white_space_parts() -> None:
    assert [bucket.label for bucket in buckets(["two words", " один ", "три\u00a0слова да"])] == ["1–3"]
    assert len(buckets([" ".join("w" * n) for n in range(1, 2000)])) == MOST_BUCKETS
    assert [bucket.label for bucket in buckets(["本を読む"] * 200)] == ["1"]


def test_the_table_says_how_variants_differ(comparison: Comparison) -> None:
    columns, [first, second] = table(comparison)
    assert columns == ["model.norm", "exact", "against the first", "parameters", "tokens/s"]
    assert first == ["before", "33.33 ± 0.00", "–", "1,000", "50"]
    assert second[:2] == ["after", "83.33 ± 0.00"]
    assert second[2].startswith("+50.00, p = 0.12")  # four sentences decide: 2 of 16 ways
    assert "within spread" not in second[2]


def test_a_difference_smaller_than_that_between_seeds_is_marked(small: ComparisonPlan) -> None:
    plan = ComparisonPlan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    rights = ("++++----", "+++++---", "--------", "+-------")
    outcomes = [outcome(run, right) for run, right in zip(plan.runs(Path("out")), rights, strict=True)]
    findings = find(plan, outcomes, [])
    assert findings[1].measures[0].within_spread is True
    assert table(Comparison("x", "y", "test", 8, 1, [], findings))[1][1][2].endswith("(within spread)")


def test_a_difference_on_a_single_sentence_is_not_tested(small: ComparisonPlan) -> None:
    plan = ComparisonPlan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    outcomes = [outcome(run, right) for run, right in zip(plan.runs(Path("out")), "-+-+", strict=True)]
    findings = find(plan, outcomes, [])
    [row] = findings[1].rows()
    assert [row[name] for name in ("p", "low", "high")] == [None] * 3
    assert table(Comparison("x", "y", "test", 1, 1, [], findings))[1][1][2] == "+100.00"


def test_a_metric_without_anything_to_measure_is_a_dash(small: ComparisonPlan) -> None:
    """As the accuracy of unknown words, where the test has none."""
    plan = ComparisonPlan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    nothing = Sums(np.zeros((4, 2)), lambda total: float("nan"))
    outcomes = [
        replace(outcome(run, "++--"), scores=[Score("exact", float("nan"), "by hand", 0)], sums={"exact": nothing})
        for run in plan.runs(Path("out"))
    ]
    comparison = Comparison("x", "y", "test", 4, 1, [], find(plan, outcomes, []))
    assert [row[1:3] for row in table(comparison)[1]] == [["–", "–"]] * 2
    measure = json.loads(text_for(comparison, Path("x.json")))["variants"][1]["measures"][0]
    assert [measure[name] for name in ("mean", "spread", "deviation", "difference")] == [None] * 4
    assert text_for(comparison, Path("x.csv")).splitlines()[2].startswith("after,exact,,,2,,,,,,")


def test_scores_by_length_are_those_of_the_sentences(comparison: Comparison) -> None:
    columns, rows = length_table(comparison, 0)
    assert columns == ["source words", "sentences", "before", "after"]
    assert rows == [["1–2", "6", "33.33 ± 0.00", "83.33 ± 0.00"]]


def test_a_failed_run_leaves_the_seeds_that_both_have(small: ComparisonPlan) -> None:
    plan = ComparisonPlan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    runs = plan.runs(Path("out"))
    findings = find(plan, [outcome(runs[0], "++--"), outcome(runs[2], "+---"), outcome(runs[3], "++++")], [])
    assert findings[1].measures[0].against_first is not None
    assert findings[1].measures[0].against_first.value == 75
    alone = find(plan, [outcome(runs[1], "++--")], [])
    assert [run.variant for run in alone] == ["after"]
    assert alone[0].measures[0].against_first is None
    assert "of the seeds that were trained" in " ".join(notes(Comparison("x", "y", "test", 4, 1, [], findings)))


def test_everything_is_kept_as_numbers_as_a_page_and_as_pictures(comparison: Comparison, tmp_path: Path) -> None:
    assert keep(comparison, tmp_path) == set()
    report = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    first, second = report["variants"]
    assert (first["name"], first["changes"], first["seeds"]) == ("before", {"model": {"norm": "before"}}, [1, 2])
    assert first["folders"] == ["out/before/seed-1", "out/before/seed-2"]
    assert (first["parameters"], first["tokens_per_second"]) == (1000, 50)
    measure = second["measures"][0]
    assert measure["values"] == pytest.approx([500 / 6, 500 / 6])
    assert (measure["spread"], measure["deviation"], measure["signature"]) == (0, 0, "by hand")
    assert measure["against_first"].keys() == {"value", "low", "high", "bootstrap", "randomisation"}
    assert [bucket["sentences"] for bucket in report["buckets"]] == [6]
    text = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert text == page(comparison)
    assert "| after | 83.33 ± 0.00 | +50.00, p" in text
    assert "- exact: `by hand`" in text
    for name in ("comparison.png", "by-length.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_the_losses_of_first_seeds_are_drawn_together(
    small: ComparisonPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curves: dict[str, list[tuple[int, float]]] = {}
    monkeypatch.setattr(RunFolder, "facts", lambda run: Facts(losses=[(1, 2.0), (2, float(run.folder.name[-1]))]))
    monkeypatch.setattr(running, "draw_curves", lambda series, path, title: curves.update(series) or {path.name})
    assert keep_losses(small.runs(tmp_path), tmp_path, "small") == {"losses.png"}
    assert curves == {
        "training loss, before, seed 1": [(1, 2.0), (2, 1.0)],
        "training loss, after, seed 1": [(1, 2.0), (2, 1.0)],
    }


def test_the_notes_say_how_many_ran_at_once(comparison: Comparison) -> None:
    assert "at once" not in " ".join(notes(comparison))
    side_by_side = Comparison("x", "y", "valid", 6, 3, [], comparison.variants)
    assert notes(side_by_side)[0] == "Scored on 6 sentences of the split valid."
    assert notes(side_by_side)[-1].endswith("3 runs at once.")


def test_what_failed_is_named_with_its_reason(small: ComparisonPlan, comparison: Comparison, tmp_path: Path) -> None:
    runs = small.runs(Path("out"))
    some = [Failure(runs[2], ["This file", "is empty."]), Failure(runs[1], ["No memory was left."])]
    keep(replace(comparison, variants=comparison.variants[:1], failures=some), tmp_path)
    text = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert text.split("## Runs that failed\n\n")[1].split("\n\n##")[0].splitlines() == [
        "- before, seed 2: This file is empty.",
        "- after, seed 1: No memory was left.",
        "- after is not in the table, because none of its runs was trained.",
    ]
    assert json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["failures"] == [
        {"name": "before", "seed": 2, "folder": "out/before/seed-2", "reason": "This file is empty."},
        {"name": "after", "seed": 1, "folder": "out/after/seed-1", "reason": "No memory was left."},
    ]
    assert "failed" not in page(comparison)
