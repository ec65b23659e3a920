"""Defaults yield to the user's settings; only contradictions among these are refused."""

from pathlib import Path
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import Recipe, apply_settings, parse
from regard.families import FAMILIES, check_recipe
from regard.runs.recipes import recipe_names, recipe_text
from regard.runs.request import TrainingRequest, plan_of

AVERAGED: dict[str, Any] = {
    "data": {"source_language": "en", "target_language": "pt", "train": "demo:train", "valid": "demo:valid"},
    "training": {"steps": 5, "final": "average"},
}


def recipe(asked: str | dict[str, Any] | None, *settings: str, **more: Any) -> Recipe:
    return check_recipe(apply_settings(plan_of(TrainingRequest(asked, settings, **more)).table, settings))


def learns_by_steps(name: str) -> bool:
    table = parse(recipe_text(name), name)
    return "compare" not in table and FAMILIES[table.get("family", "transformer")].learns == "gradient"


@pytest.mark.parametrize("name", [name for name in recipe_names() if learns_by_steps(name)])
@pytest.mark.parametrize("steps", [1, 2])
def test_every_recipe_can_be_tried_for_a_step_or_two(name: str, steps: int) -> None:
    assert recipe(name, f"training.steps={steps}").training.steps == steps


def test_text_files_can_be_tried_for_a_step(tmp_path: Path) -> None:
    source, target = tmp_path / "words.sp", tmp_path / "words.ph"
    source.write_text("w o r d\n" * 50)
    target.write_text("W ER D\n" * 50)
    files = {"source": source, "target": target}
    assert recipe(None, "training.steps=1", "training.final=average", **files).training.steps == 1


def test_one_of_the_users_words_and_defaults_are_no_contradiction() -> None:
    assert recipe(AVERAGED).training.final == "average"
    assert recipe("demo", "training.final=average", "training.steps=1").training.save_every == 350
    assert recipe("multi30k-en-de", "training.save_every=100000").training.final == "average"


@pytest.mark.parametrize(("steps", "words"), [(1, "1 step;"), (5, "5 steps;")])
def test_a_mean_of_checkpoints_that_are_said_never_to_be_saved_is_refused(steps: int, words: str) -> None:
    table = AVERAGED | {"training": {"steps": steps, "final": "average", "save_every": 6}}
    with pytest.raises(Fault, match=f"final = 'average' needs checkpoints, but none is saved in {words}"):
        plan_of(TrainingRequest(table))


def test_a_recipe_of_ones_own_and_settings_are_both_the_users_words() -> None:
    table = AVERAGED | {"training": {"steps": 5, "final": "average", "save_every": 2}}
    assert recipe(table).training.save_every == 2
    with pytest.raises(Fault, match="none is saved in 1 step"):
        plan_of(TrainingRequest(table, ["training.steps=1"]))


def test_a_shorter_model_drops_longer_pairs() -> None:
    assert recipe("demo", "model.longest=100").data.cleaning.longest == 99
    assert recipe("demo", "model.longest=2000").data.cleaning.longest == 256
    with pytest.raises(Fault, match=r"data\.cleaning\.longest 150 and an end token do not fit model\.longest 100"):
        recipe("demo", "model.longest=100", "data.cleaning.longest=150")


def test_without_translations_the_loss_says_what_is_best() -> None:
    settings = {"best_by": "bleu"}
    assert recipe(AVERAGED | {"training": {}}, "training.validation_beam=0").training.best_by == "loss"
    with pytest.raises(Fault, match="best_by = 'bleu' needs translations"):
        recipe(AVERAGED | {"training": settings}, "training.validation_beam=0")


def test_a_measure_of_translations_brings_translations() -> None:
    assert recipe("tatoeba-en-pt").training.validation_beam == 0
    assert recipe("tatoeba-en-pt", "training.best_by=bleu").training.validation_beam == 1
    with pytest.raises(Fault, match="best_by = 'bleu' needs translations"):
        recipe("tatoeba-en-pt", "training.best_by=bleu", "training.validation_beam=0")


def test_a_recipe_made_for_files_bends_too(tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.pt"
    source.write_text("The cat sees a dog here.\n" * 30)
    target.write_text("O gato vê um cão aqui mesmo.\n" * 30)
    files = {"source": source, "target": target}
    assert recipe(None, **files).training.best_by == "chrf"
    assert recipe(None, "training.validation_beam=0", **files).training.best_by == "loss"


def test_a_recipe_that_starts_from_a_model_bends_by_its_family(tmp_path: Path, trained: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.pt"
    source.write_text("The cat sees a dog here.\n" * 30)
    target.write_text("O gato vê um cão aqui mesmo.\n" * 30)
    request = TrainingRequest(None, ["training.validation_beam=0"], source=source, target=target, start=trained)
    assert plan_of(request).table["training"]["best_by"] == "loss"
    nowhere = TrainingRequest({"start_from": str(tmp_path), "data": {}}, ["training.validation_beam=0"])
    assert "training" not in plan_of(nowhere).table
