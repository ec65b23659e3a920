"""Comparisons before and after the training: what is asked, what is refused, what a table says."""

import fcntl
import itertools
import json
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.checkpoint import RunFolder
from regard.comparing import folder as comparison_folder
from regard.comparing import side_by_side
from regard.comparing.asked import asked_for, cut
from regard.comparing.keep import keep
from regard.comparing.lengths import MOST_BUCKETS, buckets
from regard.comparing.outcomes import Outcome
from regard.comparing.page import length_table, notes, page, table
from regard.comparing.plan import CompareOptions, Plan, make_plan, merged
from regard.comparing.report import Comparison, find
from regard.families import FAMILIES, check_recipe
from regard.faults import Fault
from regard.metrics import Score
from regard.metrics.significance import Sums
from regard.progress import silent
from regard.recipe import apply_settings, read_table

ROOT = Path(__file__).parents[1]
SHIPPED = sorted((ROOT / "regard" / "recipes").glob("compare-*.toml"))
BASE: dict[str, Any] = {"data": {"train": "demo:train", "test": "demo:test"}, "model": {"width": 32, "heads": 2}}


def planned(*vary: str, variants: tuple[str, ...] = (), **others: Any) -> Plan:
    return make_plan(asked_for(BASE, vary, variants, others), "some")


def names(plan: Plan) -> list[str]:
    return [variant.name for variant in plan.variants]


# What is asked


@pytest.mark.parametrize(
    ("text", "separator", "parts"),
    [
        ("a,b,c", ",", ["a", "b", "c"]),
        ("[1,2],[3]", ",", ["[1,2]", "[3]"]),
        ("\"a,b\",'c,d'", ",", ['"a,b"', "'c,d'"]),
        ("{x=1,y=2},3", ",", ["{x=1,y=2}", "3"]),
        ("it's,b", ",", ["it's,b"]),
        ("a,,b", ",", ["a", "", "b"]),
        ("  a=1   b='x y' ", " ", ["a=1", "b='x y'"]),
    ],
)
def test_commas_and_spaces_inside_quotes_and_brackets_do_not_cut(text: str, separator: str, parts: list[str]) -> None:
    assert cut(text, separator) == parts


def test_values_are_toml_or_bare_strings_as_in_settings() -> None:
    plan = planned("model.dropout=0.1,0.25", "model.norm=before,after", seeds=2)
    assert plan.differ_in == "model.dropout, model.norm"
    assert names(plan) == ["0.1, before", "0.1, after", "0.25, before", "0.25, after"]
    assert plan.variants[3].changes == {"model": {"dropout": 0.25, "norm": "after"}}
    options = plan.variants[3].recipes[1].model
    assert (options.dropout, options.norm, options.width) == (0.25, "after", 32)
    assert [recipe.seed for recipe in plan.variants[0].recipes] == [1, 2]


def test_a_variant_can_change_several_options_and_the_family() -> None:
    bundles = ["as it is:", "wide: model.width=64 model.heads=4", "Luong: family=seq2seq model={decoder='luong'}"]
    plan = make_plan(asked_for({"data": BASE["data"]}, [], bundles, {}), "some")
    assert (plan.differ_in, names(plan)) == ("variant", ["as it is", "wide", "Luong"])
    assert plan.variants[1].changes == {"model": {"width": 64, "heads": 4}}
    assert [variant.recipes[0].family for variant in plan.variants] == ["transformer", "transformer", "seq2seq"]


def test_variants_and_values_are_combined() -> None:
    plan = planned("model.norm=before,after", variants=("narrow:", "wide: model.width=64"))
    assert plan.differ_in == "variant, model.norm"
    assert names(plan) == ["narrow, before", "narrow, after", "wide, before", "wide, after"]
    assert [variant.place for variant in plan.variants] == [
        "narrow-before",
        "narrow-after",
        "wide-before",
        "wide-after",
    ]


def test_a_recipe_can_carry_its_comparison() -> None:
    text = """
    seed = 5
    [compare]
    seeds = 2
    metrics = ["ter"]
    by_length = true
    vary.model.norm = ["before", "after"]
    [compare.variants."до"]
    model.dropout = 0.5
    [compare.variants."после"]
    [data]
    train = "demo:train"
    """
    plan = make_plan(tomllib.loads(text), "some")
    assert names(plan) == ["до, before", "до, after", "после, before", "после, after"]
    assert (plan.options.metrics, plan.options.by_length) == (["ter"], True)
    assert [recipe.seed for recipe in plan.variants[0].recipes] == [5, 6]
    assert [run.folder for run in plan.runs(Path("here"))][:2] == [
        Path("here/до-before/seed-5"),
        Path("here/до-after/seed-5"),
    ]
    assert make_plan(plan.table, "again").variants == plan.variants


def test_the_command_line_takes_the_place_of_what_the_recipe_compares() -> None:
    carried = BASE | {"compare": {"seeds": 7, "variants": {"x": {}, "y": {"model": {"width": 64}}}}}
    plan = make_plan(asked_for(carried, ["model.norm=before,after"], [], {"seeds": None, "by_length": True}), "some")
    assert names(plan) == ["before", "after"]
    assert (plan.options.seeds, plan.options.by_length) == (7, True)
    settings = apply_settings(carried, ["compare.seeds=1"])
    assert make_plan(settings, "some").options.seeds == 1


def test_changes_are_laid_over_the_recipe_without_touching_it() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": 3}
    assert merged(base, {"a": {"b": 9}, "d": {"e": 4}}) == {"a": {"b": 9, "c": 2}, "d": {"e": 4}}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


def test_folders_have_plain_names_that_never_meet() -> None:
    bundles = ("a/b: model.width=34", "a b: model.width=36", "A-B: model.width=38", "corpora: model.width=40")
    plan = planned(variants=(*bundles, ".. : model.width=42", f"{'long' * 40}: model.width=44"))
    assert [variant.place for variant in plan.variants][:5] == ["a-b", "a-b-2", "A-B-3", "corpora-2", "variant"]
    assert len(plan.variants[5].place) <= 60


# What is refused


@pytest.mark.parametrize(
    ("vary", "variants", "sentence"),
    [
        ([], [], "A comparison needs two variants or more"),
        (["model.norm=before"], [], "A comparison needs two variants or more"),
        (["model.norm"], [], "--vary model.norm is not of the form name=value,value"),
        (["model.norm=a,,b"], [], "is not of the form"),
        (["=a,b"], [], "is not of the form"),
        (["model.norm=before,after"] * 2, [], "--vary is given twice for model.norm."),
        ([], ["wide model.width=64"], "is not of the form 'name: option=value option=value'"),
        ([], ["a: model.width", "b:"], "is not of the form 'name: option=value option=value'"),
        ([], ["a:", "a: model.width=64"], "--variant is given twice for a."),
        (["seed=1,2"], [], "The seed is not an option to vary: --seeds N"),
        (["model.norm=after,before,after"], [], "'after' and 'after' are the same recipe"),
        (["model.norm=before,after", "model.widht=1,2"], [], "model has no 'widht'; did you mean 'width'?"),
        (["model.norm=before,sandwich"], [], "sandwich: model.norm is 'sandwich', expected one of 'before', 'after'"),
        (["family=transformer,rnn"], [], "rnn: family is 'rnn', expected one of"),
    ],
)
def test_what_cannot_be_compared_is_refused(vary: list[str], variants: list[str], sentence: str) -> None:
    with pytest.raises(Fault) as caught:
        make_plan(asked_for(BASE, vary, variants, {}), "some")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("compare", "sentence"),
    [
        ({"seeds": 0}, "compare.seeds is 0, expected 1 or more"),
        ({"seed": 3}, "compare has no 'seed'; did you mean 'seeds'?"),
        ({"metrics": []}, "compare.metrics is [], expected at least 1 of them"),
        ({"vary": {"model": {"norm": "after"}}}, "compare.vary.model.norm is 'after', expected a list of values"),
        ({"variants": {"a": 1}}, "compare.variants.a is 1, expected a table"),
        (3, "compare is 3, expected a table"),
    ],
)
def test_a_bad_table_is_refused_by_its_names(compare: Any, sentence: str) -> None:
    with pytest.raises(Fault) as caught:
        make_plan(asked_for(BASE | {"compare": compare}, [], [], {}), "some")
    assert sentence in str(caught.value)


def test_all_faults_of_all_variants_come_at_once() -> None:
    with pytest.raises(Fault) as caught:
        planned(variants=("a: model.width=x", "b: model.heads=0", "c: model.width=x"), seeds=2)
    assert caught.value.sentences == (
        "a, c: model.width is 'x', expected a whole number",
        "b: model.heads is 0, expected 1 or more",
    )


# What comes with regard


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_comparison_that_comes_with_regard_is_good(path: Path) -> None:
    plan = make_plan(read_table(path), path.stem)
    assert f"`regard compare {path.stem}`" in path.read_text(encoding="utf-8")
    assert all(recipe.training.batch_tokens for variant in plan.variants for recipe in variant.recipes)


def test_the_families_are_compared_at_equal_parameters() -> None:
    plan = make_plan(read_table(ROOT / "regard" / "recipes" / "compare-families.toml"), "families")
    counts = {}
    for variant in plan.variants:
        recipe = variant.recipes[0]
        network, _ = FAMILIES[recipe.family].load()
        size = recipe.data.tokeniser.vocabulary
        with torch.device("meta"):
            model = network(recipe.model, size, size, recipe.data.tokeniser.shared, 0)
        counts[variant.name] = sum(parameter.numel() for parameter in model.parameters())
    assert len({variant.recipes[0].family for variant in plan.variants}) == 2
    assert max(counts.values()) < 1.02 * min(counts.values()), counts


def test_every_option_is_explained_in_the_document() -> None:
    text = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    for name, field in CompareOptions.model_fields.items():
        assert f"| `{name}` |" in text
        assert str(field.description) in text


# The folder


@pytest.fixture
def small(tmp_path: Path) -> Plan:
    """Two variants of a recipe of a few sentences."""
    for language, text in (("en", "a b\nc d\ne f\n"), ("pt", "A B\nC D\nE F\n")):
        (tmp_path / f"few.{language}").write_text(text, encoding="utf-8")
    files = [str(tmp_path / "few.en"), str(tmp_path / "few.pt")]
    data = {"train": files, "valid": files, "cleaning": {"leakage": False}, "tokeniser": {"kind": "bytes"}}
    return make_plan(asked_for({"data": data}, ["model.norm=before,after"], [], {"seeds": 2}), "small")


def test_a_folder_with_something_else_is_refused_and_kept(small: Plan, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x", encoding="utf-8")
    for resume, overwrite in ((False, False), (True, False), (False, True)):
        with (
            pytest.raises(Fault, match="exists and is not a comparison of regard"),
            comparison_folder.opened(small, tmp_path / "mine", resume, overwrite),
        ):
            pass
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    with (
        pytest.raises(Fault, match="is a file; name a folder"),
        comparison_folder.opened(small, tmp_path / "few.en", False, False),
    ):
        pass


def test_a_comparison_is_resumed_with_its_own_variants_or_more(small: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with comparison_folder.opened(small, out, False, False):
        assert make_plan(read_table(out / "comparison.toml"), "small").variants == small.variants
    with pytest.raises(Fault, match="holds a comparison already"), comparison_folder.opened(small, out, False, False):
        pass
    base = {name: value for name, value in small.table.items() if name != "compare"}
    more = make_plan(asked_for(base, ["model.norm=before,after", "model.width=128,64"], [], {}), "small")
    with (
        pytest.raises(Fault, match="compares before, after, and cannot be resumed without before, after"),
        comparison_folder.opened(more, out, True, False),
    ):
        pass
    grown = make_plan(asked_for(base, [], ["before: model.norm=before", "after:", "x: model.width=64"], {}), "small")
    with comparison_folder.opened(grown, out, True, False):
        pass


def test_two_processes_do_not_compare_in_one_folder(small: Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with comparison_folder.opened(small, out, False, False), (out / ".lock").open("ab") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (
            pytest.raises(Fault, match="Another process is comparing in"),
            comparison_folder.opened(small, out, True, False),
        ):
            pass


def test_overwriting_removes_the_runs_but_none_that_is_being_trained(small: Plan, tmp_path: Path) -> None:
    from regard import runs

    out = tmp_path / "out"
    run = RunFolder(small.runs(out)[0].folder)
    with comparison_folder.opened(small, out, False, False):
        run.begin()
    with (
        runs.held(run),
        pytest.raises(Fault, match="Another process is training"),
        comparison_folder.opened(small, out, False, True),
    ):
        pass
    assert run.is_ours()
    with comparison_folder.opened(small, out, False, True):
        assert sorted(path.name for path in out.iterdir()) == [".lock", "comparison.toml"]


def test_text_is_prepared_once_and_is_each_run_s_own(small: Plan, tmp_path: Path) -> None:
    planned_runs = small.runs(tmp_path / "out")
    comparison_folder.prepare_text(planned_runs, tmp_path / "out", "valid", silent)
    [shared] = (tmp_path / "out" / "corpora").iterdir()
    for run in planned_runs:
        own = run.folder / "training" / "corpus" / "finished.json"
        assert own.samefile(shared / "finished.json")
    comparison_folder.prepare_text(planned_runs, tmp_path / "out", "valid", silent)


def test_variants_with_other_test_data_are_refused(small: Plan, tmp_path: Path) -> None:
    turned = json.dumps([str(tmp_path / "few.pt"), str(tmp_path / "few.en")])
    base = {name: value for name, value in small.table.items() if name != "compare"}
    plan = make_plan(asked_for(base, [], ["as it is:", f"turned: data.valid={turned}"], {}), "small")
    with pytest.raises(Fault, match="The variants have different valid data"):
        comparison_folder.prepare_text(plan.runs(tmp_path / "out"), tmp_path / "out", "valid", silent)


# Side by side

GOOD = "print('regard: nothing to complain of')"
BAD = "import sys; print('regard: This file is empty.', file=sys.stderr); sys.exit(2)"
MUTE = "import sys; sys.exit(3)"
PATIENT = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def pretended(small: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Train the four runs of a comparison by processes that only pretend to."""

    def train(programs: list[str], jobs: int, stop: Any = lambda: False, minutes: float | None = None) -> Any:
        left = iter(programs)
        monkeypatch.setattr(side_by_side, "_command", lambda run, _: [sys.executable, "-c", next(left)])
        return side_by_side.train_side_by_side(small.runs(tmp_path / "out"), jobs, lambda: minutes, stop)

    return train


def test_each_process_that_fails_says_why_and_the_others_go_on(pretended: Any, tmp_path: Path) -> None:
    ended = {run.title: complaint for run, complaint in pretended([BAD, GOOD, MUTE, GOOD], 3)}
    assert ended["before, seed 1"] == ["This file is empty."]
    log = tmp_path / "out" / "before" / "seed-2" / "training" / "log.txt"
    assert ended["before, seed 2"] == [f"its process ended with status 3; {log} says more."]
    assert (ended["after, seed 1"], ended["after, seed 2"]) == ([], [])
    again = {run.title: complaint for run, complaint in pretended([MUTE, GOOD, GOOD, GOOD], 1)}
    assert "ended with status 3" in again["before, seed 1"][0]  # what its log said before is not said again


def test_all_are_asked_to_stop_and_no_more_are_begun(pretended: Any, tmp_path: Path) -> None:
    logs = [tmp_path / "out" / place / "seed-1" / "training" / "log.txt" for place in ("before", "after")]

    def both_are_ready() -> bool:
        return all(log.is_file() and b"ready" in log.read_bytes() for log in logs)

    ended = [(run.title, complaint) for run, complaint in pretended([PATIENT] * 4, 2, both_are_ready)]
    assert ended == [("before, seed 1", []), ("after, seed 1", [])]


def test_when_no_time_is_left_no_more_are_begun(pretended: Any) -> None:
    assert list(pretended([GOOD] * 4, 2, minutes=0.0)) == []


def test_processes_do_not_outlive_whoever_started_them(pretended: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen] = []
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: started.append(real(*given, **more)) or started[-1])
    ended = pretended([GOOD, PATIENT, PATIENT, PATIENT], 2)
    next(ended)
    ended.close()
    assert len(started) == 2
    assert [process.returncode for process in started] == [0, -signal.SIGKILL]


def test_a_run_is_trained_by_the_ordinary_command(small: Plan, tmp_path: Path) -> None:
    run = small.runs(tmp_path / "out")[3]
    run.folder.mkdir(parents=True)
    command = side_by_side._command(run, 1.5)
    recipe = tmp_path / "out" / "after" / "seed-2.toml"
    assert command[1:] == [
        "-m",
        "regard",
        "train",
        str(recipe),
        "--out",
        str(run.folder),
        "--resume",
        "--minutes",
        "1.5",
    ]
    assert check_recipe(read_table(recipe)) == run.recipe
    assert "--minutes" not in side_by_side._command(run, None)


# Lengths


def test_buckets_on_paper() -> None:
    sources = [" ".join(["w"] * length) for length in itertools.chain(range(1, 101), [50] * 100)]
    found = buckets(sources)
    assert [(bucket.shortest, bucket.longest, len(bucket.sentences)) for bucket in found] == [
        (1, 25, 25),
        (26, 50, 125),
        (51, 75, 25),
        (76, 100, 25),
    ]
    assert found[1].label == "26–50"
    assert sorted(np.concatenate([bucket.sentences for bucket in found]).tolist()) == list(range(200))


def test_few_sentences_make_few_buckets_and_words_are_what_white_space_parts() -> None:
    assert [bucket.label for bucket in buckets(["two words", " один ", "три\u00a0слова да"])] == ["1–3"]
    assert len(buckets([" ".join("w" * n) for n in range(1, 2000)])) == MOST_BUCKETS
    assert [bucket.label for bucket in buckets(["本を読む"] * 200)] == ["1"]


# The table


def outcome(run: Any, right: str) -> Outcome:
    """A run that is right where there is a +, of 1,000 parameters, at 50 tokens a second."""
    rows = np.array([(sign == "+", 1) for sign in right], dtype=float)
    sums = Sums(rows, lambda total: 100 * total[0] / total[1])
    return Outcome(run, [Score("exact", sums.value(), "by hand", len(right))], {"exact": sums}, 1000, (100, 2.0))


@pytest.fixture
def comparison(small: Plan) -> Comparison:
    """Three sentences of one word and three of two; the second variant is right twice as often."""
    plan = Plan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    runs = plan.runs(Path("out"))
    outcomes = [outcome(run, right) for run, right in zip(runs, ("++----", "+++++-", "+-+---", "+++++-"), strict=True)]
    lengths = buckets(["w", "w", "w", "w w", "w w", "w w"])
    return Comparison("small", "model.norm", "test", 6, 1, lengths, find(plan, outcomes, lengths))


def test_the_table_says_how_variants_differ(comparison: Comparison) -> None:
    columns, [first, second] = table(comparison)
    assert columns == ["model.norm", "exact", "against the first", "parameters", "tokens/s"]
    assert first == ["before", "33.33 ± 0.00", "–", "1,000", "50"]
    assert second[:2] == ["after", "83.33 ± 0.00"]
    assert second[2].startswith("+50.00, p = 0.12")  # four sentences decide: 2 of 16 ways
    assert "within spread" not in second[2]


def test_a_difference_smaller_than_that_between_seeds_is_marked(small: Plan) -> None:
    plan = Plan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    rights = ("++++----", "+++++---", "--------", "+-------")
    outcomes = [outcome(run, right) for run, right in zip(plan.runs(Path("out")), rights, strict=True)]
    found = find(plan, outcomes, [])
    assert found[1].measures[0].within_spread is True
    assert table(Comparison("x", "y", "test", 8, 1, [], found))[1][1][2].endswith("(within spread)")


def test_scores_by_length_are_those_of_the_sentences(comparison: Comparison) -> None:
    columns, rows = length_table(comparison, 0)
    assert columns == ["source words", "sentences", "before", "after"]
    assert rows == [["1–2", "6", "33.33 ± 0.00", "83.33 ± 0.00"]]


def test_a_failed_run_leaves_the_seeds_that_both_have(small: Plan) -> None:
    plan = Plan("small", "model.norm", CompareOptions(metrics=["exact"]), small.variants, {})
    runs = plan.runs(Path("out"))
    found = find(plan, [outcome(runs[0], "++--"), outcome(runs[2], "+---"), outcome(runs[3], "++++")], [])
    assert found[1].measures[0].against_first is not None
    assert found[1].measures[0].against_first.value == 75
    alone = find(plan, [outcome(runs[1], "++--")], [])
    assert [each.variant for each in alone] == ["after"]
    assert alone[0].measures[0].against_first is None
    assert "of the seeds that were trained" in " ".join(notes(Comparison("x", "y", "test", 4, 1, [], found)))


def test_everything_is_kept_as_numbers_as_a_page_and_as_pictures(comparison: Comparison, tmp_path: Path) -> None:
    assert keep(comparison, tmp_path) == set()
    kept = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    first, second = kept["variants"]
    assert (first["name"], first["changes"], first["seeds"]) == ("before", {"model": {"norm": "before"}}, [1, 2])
    assert first["folders"] == ["out/before/seed-1", "out/before/seed-2"]
    assert (first["parameters"], first["tokens_per_second"]) == (1000, 50)
    measure = second["measures"][0]
    assert measure["values"] == pytest.approx([500 / 6, 500 / 6])
    assert (measure["spread"], measure["deviation"], measure["signature"]) == (0, 0, "by hand")
    assert measure["against_first"].keys() == {"value", "low", "high", "bootstrap", "randomisation"}
    assert [bucket["sentences"] for bucket in kept["buckets"]] == [6]
    text = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert text == page(comparison)
    assert "| after | 83.33 ± 0.00 | +50.00, p" in text
    assert "- exact: `by hand`" in text
    for name in ("comparison.png", "by-length.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_the_notes_say_how_many_ran_at_once(comparison: Comparison) -> None:
    assert "at once" not in " ".join(notes(comparison))
    side_by_side = Comparison("x", "y", "valid", 6, 3, [], comparison.variants)
    assert notes(side_by_side)[0] == "Scored on 6 sentences of the split valid."
    assert notes(side_by_side)[-1].endswith("3 runs at once.")
