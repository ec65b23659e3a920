"""Requests to compare: from a command line or a recipe, and refusals."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import apply_settings
from regard.runs.compare.plan import ComparisonPlan, make_plan, merge_tables
from regard.runs.compare.request import asked_for, cut

BASE: dict[str, Any] = {"data": {"train": "demo:train", "test": "demo:test"}, "model": {"width": 32, "heads": 2}}


def planned(*vary: str, variants: tuple[str, ...] = (), **others: Any) -> ComparisonPlan:
    return make_plan(asked_for(BASE, vary, variants, others), "some")


def names(plan: ComparisonPlan) -> list[str]:
    return [variant.name for variant in plan.variants]


@pytest.mark.parametrize(
    ("text", "separator", "parts"),
    [
        ("a,b,c", ",", ["a", "b", "c"]),
        ("[1,2],[3]", ",", ["[1,2]", "[3]"]),
        ("\"a,b\",'c,d'", ",", ['"a,b"', "'c,d'"]),
        ("{x=1,y=2},3", ",", ["{x=1,y=2}", "3"]),
        ('"it\'s","a\\",b"', ",", ['"it\'s"', '"a\\",b"']),
        ("a,,b", ",", ["a", "", "b"]),
        ("  a=1   b='x y' ", " ", ["a=1", "b='x y'"]),
    ],
)
def test_commas_and_spaces_inside_quotes_and_brackets_do_not_cut(text: str, separator: str, parts: list[str]) -> None:
    assert cut(text, separator) == parts


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ('"before,after', '"'), ("'before,after", "'"), ("it's,b", "'"), ('"a\\",b', '"'),
        ("[1,2", "["), ("{x=[1,2]", "{"), ("1,2]", "]"), ("[1,2},3", "}"),
    ],
)  # fmt: skip
def test_what_is_opened_must_be_closed(text: str, mark: str) -> None:
    vary, variant = f"model.norm={text}", f"a: model.norm={text}"
    for ask in (lambda: cut(text, ","), lambda: planned(vary), lambda: planned(variants=(variant,))):
        with pytest.raises(Fault) as caught:
            ask()
        assert f"The {mark} in " in str(caught.value)
        assert 'is never closed; close it, or write the whole value in quotes, as in "it\'s".' in str(caught.value)


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


def test_a_metric_given_twice_counts_once() -> None:
    plan = planned("model.norm=before,after", metrics=["ter", "bleu", "ter"])
    assert plan.options.metrics == ["ter", "bleu"]
    assert plan.table["compare"]["metrics"] == ["ter", "bleu"]


def test_changes_are_laid_over_the_recipe_without_touching_it() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": 3}
    assert merge_tables(base, {"a": {"b": 9}, "d": {"e": 4}}) == {"a": {"b": 9, "c": 2}, "d": {"e": 4}}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


def test_folders_have_plain_names_that_never_meet() -> None:
    bundles = ("a/b: model.width=34", "a b: model.width=36", "A-B: model.width=38", "corpora: model.width=40")
    plan = planned(variants=(*bundles, ".. : model.width=42", f"{'long' * 40}: model.width=44"))
    assert [variant.place for variant in plan.variants][:5] == ["a-b", "a-b-2", "A-B-3", "corpora-2", "variant"]
    assert len(plan.variants[5].place) <= 60


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
        (["family=transformer,perceptron"], [], "perceptron: family is 'perceptron', expected one of"),
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
