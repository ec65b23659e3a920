"""The cost of a recipe computed by hand, compared with the reported one."""

import json
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.cli import main
from regard.families import check_recipe
from regard.runs import budget as budgets
from regard.runs.budget import MEASURED, PUBLISHED, budget_lines, budget_of
from regard.tasks.translation.task import FILLED


def translator(vocabulary: int = 32_000, batch_tokens: int = 25_000, **model: Any) -> Any:
    data = {"train": "pairs.tsv", "tokeniser": {"kind": "bpe", "vocabulary": vocabulary}}
    training = {"steps": 1000, "batch_tokens": batch_tokens}
    return check_recipe({"family": "transformer", "data": data, "model": model, "training": training})


def test_the_base_model_counted_on_paper() -> None:
    """Six encoder and six decoder blocks of width 512 with 2,048 inside, and 32,000 tokens."""
    budget = budget_of(translator(preset="base"))
    reading, writing = 4 * 512**2 + 2 * 512 * 2048, 8 * 512**2 + 2 * 512 * 2048
    matrices = 6 * (reading + writing) + 512 * 32_000
    looking = 3 * 6 * 2 * 30 * 512  # of three attentions in six blocks, scores and mixing, at 30 tokens
    assert budget.multiplications == matrices + looking
    assert (budget.room, budget.steps) == (25_000, 1000)
    assert budget.all_tokens == 25_000 * FILLED * 1000
    assert budget.operations == pytest.approx(6 * budget.multiplications * budget.all_tokens)


def test_a_model_that_was_measured_has_its_pace_and_one_that_does_more_a_slower_one() -> None:
    measured = MEASURED[1]
    big, larger = budget_of(translator(preset="big")), budget_of(translator(64_000, preset="big"))
    assert big.pace == measured.tokens
    assert big.hours(1) == pytest.approx(big.all_tokens / measured.tokens / 3600)
    assert big.hours(8) == pytest.approx(big.hours(1) / 8)
    assert larger.pace == pytest.approx(big.pace * big.multiplications / larger.multiplications)
    assert budget_of(translator(8000, preset="big")).pace == measured.tokens  # less work is not assumed to be faster


def test_what_takes_next_to_no_time_takes_some() -> None:
    lines = dict(budget_lines(budget_of(translator(batch_tokens=10, preset="tiny")), 8))
    assert lines["time"] == "less than two seconds on one H200"


def test_a_batch_that_goes_through_twice_costs_twice() -> None:
    recipe = translator(preset="tiny")
    twice = recipe.model_copy(update={"training": recipe.training.model_copy(update={"consistency": 1.0})})
    assert budget_of(twice).multiplications == 2 * budget_of(recipe).multiplications


def test_what_was_published_stands_beside_the_same_data_and_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "wmt14-en-de", "--budget"]) == 0
    output = capsys.readouterr().out
    assert "300,000 steps: 7e+09 in all" in output
    assert "28.4 BLEU after 3.5 days on 8 P100, 672 GPU hours (Vaswani et al. 2017)" in output
    assert "28.69 BLEU after 7.4 hours on 8 V100" in output
    assert "41.8" not in output
    base = ["--set", "model.preset=base", "--set", "training.steps=100000", "--json"]
    assert main(["info", "wmt14-en-fr", "--budget", *base]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [run["score"] for run in facts["published"]] == ["38.1 BLEU"]
    assert facts["hours_on_one"] == pytest.approx(8 * facts["hours"])
    assert {run.data for run in PUBLISHED} == {"wmt14-en-de", "wmt14-en-fr"}


def test_language_models_are_counted_by_rows_and_spans_and_others_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"train": "text.txt", "tokeniser": {"kind": "bytes"}}
    training = {"steps": 10, "batch": 4, "span": 32, "accumulate": 2}
    gpt = check_recipe({"family": "gpt", "data": data, "model": {"preset": "tiny"}, "training": training})
    assert budget_of(gpt).all_tokens == 10 * 2 * 4 * 32
    bert = check_recipe({"family": "bert", "data": {"train": "text.txt"}, "model": {"preset": "small"}})
    assert budget_of(bert).tokens == bert.training.batch * bert.training.span
    assert budget_of(bert).pace <= max(row.tokens for row in MEASURED if row.family == "bert")
    monkeypatch.setattr(budgets, "MEASURED", ())
    assert ("pace", "no similar model was measured, so the time cannot be estimated") in budget_lines(budget_of(gpt), 8)
    words = check_recipe({"family": "rnnlm", "data": {"train": "text.txt"}, "training": {"steps": 1}})
    with pytest.raises(Fault, match="does not limit its vocabulary"):
        budget_of(words)
    taken = check_recipe({"family": "rnnlm", "data": {"train": "text.txt", "tokeniser": {"from": "runs/translator"}}})
    with pytest.raises(Fault, match="The tokeniser comes from runs/translator, so the cost of a step"):
        budget_of(taken)
    graph = check_recipe({"family": "gat", "data": {"graph": "planetoid:cora"}})
    with pytest.raises(Fault, match=r"learn by gradient; this is a gat for the task nodes\.$"):
        budget_of(graph)


def test_a_comparison_has_no_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "compare-adding", "--budget"]) == 2
    assert "compare-adding is a comparison of several recipes; run it with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "seed=2"], "--set needs --budget, whose recipe it changes."),
        (["--gpus", "4"], "--gpus needs --budget, which it is for."),
        (["--budget", "--length", "9"], "--length is for the cost of an input; omit it with --budget."),
    ],
)
def test_options_of_the_other_description_are_refused(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", "somewhere", *options]) == 2
    assert words in capsys.readouterr().err
