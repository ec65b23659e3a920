"""A real translator's certainty: found with the final weights, kept in its folder, reported by server and Python."""

from pathlib import Path
from types import SimpleNamespace

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toy import make_model

import regard
from regard.base.model_folder import CERTAINTY, read_folder, update_folder
from regard.serving.app import make_app
from regard.verbs.translate.certainty import Certainty, certainty_of
from regard.verbs.translate.validation import TranslationValidator

TEXTS = [f"w{number} sees the red house" for number in range(24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a finished model whose validations translate nothing."""
    model_folder = make_model(tmp_path_factory.mktemp("unsure") / "model", export=False)
    model = regard.load(model_folder)
    model.task._material = SimpleNamespace(corpus=SimpleNamespace(valid=[(text, "") for text in TEXTS]))
    silent = model.recipe.training.model_copy(update={"validation_beam": 0})
    validator = TranslationValidator(model.task, model.recipe.model_copy(update={"training": silent}))
    update_folder(model_folder, validator.closing_files(model_folder, "cpu"))
    assert (
        TranslationValidator(model.task, model.recipe).closing_files(model_folder, "cpu") == {}
    )  # found by validations
    return model_folder


def test_the_folder_keeps_what_is_usual_and_outputs_are_marked_by_it(folder: Path) -> None:
    certainty = Certainty.model_validate_json(read_folder(folder, [CERTAINTY])[CERTAINTY])
    model = regard.load(folder)
    outputs = model.translate(TEXTS)
    assert certainty.outputs == len(TEXTS)
    assert [output.unsure for output in outputs] == [
        certainty_of(output.token_scores) < certainty.threshold for output in outputs
    ]
    assert 0 < sum(bool(output.unsure) for output in outputs) <= 2  # a twentieth of 24
    assert {translation.unsure for translation in model.translate(TEXTS[:2], sample={"seed": 1})} == {None}


def test_the_server_says_the_same(folder: Path) -> None:
    expected = [translation.unsure for translation in regard.load(folder).translate(TEXTS)]
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        (model,) = client.get("/v1/models").json()["models"]
        answers = client.post("/v1/translate", json={"text": TEXTS}).json()["translations"]
        forced = client.post("/v1/translate", json={"text": TEXTS[0], "forced": "Eu amo"}).json()["translations"]
    assert model["certainty"]["outputs"] == len(TEXTS)
    assert [answer["unsure"] for answer in answers] == expected
    assert [answer["unsure"] for answer in forced] == [None]
