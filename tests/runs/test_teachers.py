"""Teachers and tokenisers of another model in a recipe: what is taken, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.progress import ignore_remark, silent
from regard.base.recipe import merge_tables
from regard.runs.open import check_possible, open_run
from regard.runs.parents import resolve
from regard.training.checkpoint import read_recipe


@pytest.fixture
def table(trained: Path) -> dict[str, Any]:
    """Return a small recipe that takes the tokenisers and the text of a trained translator."""
    data = read_recipe(trained)["data"]
    return {
        "family": "transformer",
        "data": {"train": data["train"], "tokenisers_from": str(trained)},
        "model": {"encoder_layers": 1, "decoder_layers": 1, "width": 8, "feed_forward": 8, "heads": 1},
        "training": {"steps": 2, "batch_tokens": 256, "device": "cpu"},
    }


def opened(table: dict[str, Any], folder: Path) -> Any:
    return open_run(resolve(table), folder, False, silent, ignore_remark)


def test_a_recipe_takes_tokenisers_and_their_options(table: dict[str, Any], trained: Path, tmp_path: Path) -> None:
    run = opened(table, tmp_path / "run")
    assert run.recipe.data.tokeniser.vocabulary == 400
    assert run.prepared.files() == {"tokeniser.model": (trained / "tokeniser.model").read_bytes()}


def test_other_tokeniser_options_are_refused(table: dict[str, Any]) -> None:
    with pytest.raises(Fault, match="vocabulary is 500, but the model has 400, whose tokenisers are used"):
        resolve(merge_tables(table, {"data": {"tokeniser": {"vocabulary": 500}}}))


def test_teachers_are_noted_with_their_checksums(table: dict[str, Any], trained: Path, tmp_path: Path) -> None:
    run = opened(merge_tables(table, {"training": {"teachers": [str(trained)]}}), tmp_path / "run")
    (checksum,) = run.recipe.training.teacher_checksums
    assert len(checksum) == 64
    assert {name.split(".")[0] for name, _ in run.task.named_parameters()} == {"model"}
    assert not any(parameter.requires_grad for parameter in run.task.objective.teachers[0].parameters())


REFUSED = [
    ({"teachers": ["nowhere"]}, {}, "training.teachers names nowhere, but there is no model"),
    ({"teachers": ["TRAINED"], "consistency": 1.0}, {}, "teachers and consistency are two objectives"),
    ({"teachers": ["TRAINED"], "teacher_weight": 1.5}, {}, "training.teacher_weight is 1.5, expected 1.0 or less"),
    ({"teachers": ["TRAINED"], "teacher_temperature": 0.0}, {}, "teacher_temperature is 0.0, expected more than 0"),
    ({"teachers": ["TRAINED"], "teacher_checksums": []}, {}, "teacher_checksums needs one for each of the teachers"),
    ({"teachers": ["TRAINED"], "teacher_checksums": ["0"]}, {}, "has changed since the run began"),
    ({"teachers": ["TRAINED"]}, {"copies": True}, "needs a model that minimises plain cross-entropy"),
    ({"teachers": ["TRAINED"]}, {"ctc": 0.3}, "needs a model that minimises plain cross-entropy"),
]


@pytest.mark.parametrize(("training", "model", "sentence"), REFUSED)
def test_refused_teachers(
    training: dict[str, Any],
    model: dict[str, Any],
    sentence: str,
    table: dict[str, Any],
    trained: Path,
    tmp_path: Path,
) -> None:
    named = {name: [str(trained)] if value == ["TRAINED"] else value for name, value in training.items()}
    with pytest.raises(Fault, match=sentence):
        opened(merge_tables(table, {"training": named, "model": model}), tmp_path / "run")


def test_a_teacher_with_other_tokens_is_refused(table: dict[str, Any], trained: Path, tmp_path: Path) -> None:
    del table["data"]["tokenisers_from"]
    table["data"]["tokeniser"] = {"vocabulary": 350}
    with pytest.raises(Fault, match="has other tokens than this model"):
        opened(merge_tables(table, {"training": {"teachers": [str(trained)]}}), tmp_path / "run")


def test_a_teacher_without_weight_is_not_needed(table: dict[str, Any]) -> None:
    check_possible(resolve(merge_tables(table, {"training": {"teachers": ["nowhere"], "teacher_weight": 0.0}})))
