"""A model folder with ONNX graphs, alone or next to an export for CTranslate2."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.serving.app import make_app
from regard.serving.catalogue import Catalogue, open_models
from regard.serving.metrics import Metrics
from regard.serving.options import ServingOptions
from regard.serving.queue.worker import Worker
from regard.serving.served import ServedTranslator
from regard.verbs.translate.request import TranslateRequest

TEXT = "Eu amo livros."


@pytest.fixture(scope="module")
def folder(back: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = shutil.copytree(back, tmp_path_factory.mktemp("onnx") / "graphs")
    assert main(["export", str(copied), "--to", "onnx"]) == 0
    return copied


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[httpx.Client]:
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_it_is_translated_by_onnxruntime_as_by_torch(served: httpx.Client, folder: Path) -> None:
    (expected,) = regard.load(folder).translate([TEXT])
    for engine, answered in (("auto", "onnx"), ("onnx", "onnx"), ("torch", "torch")):
        response = served.post("/v1/translate", json={"text": TEXT, "engine": engine}).json()
        (translation,) = response["translations"]
        assert (response["engine"], translation["text"]) == (answered, expected.text)
        assert translation["token_scores"] == pytest.approx(expected.token_scores, abs=1e-4)
        assert translation["alignment"] == [list(link) for link in expected.alignment]


def test_what_onnxruntime_cannot_do_goes_to_torch_unless_it_is_named(served: httpx.Client) -> None:
    response = served.post("/v1/translate", json={"text": TEXT, "sample": {}})
    assert response.json()["engine"] == "torch"
    refused = served.post("/v1/translate", json={"text": TEXT, "sample": {}, "engine": "onnx"})
    assert refused.status_code == 400
    assert "onnxruntime cannot do 'sample'; omit" in refused.json()["error"]
    refused = served.post("/v1/translate", json={"text": TEXT, "engine": "ctranslate2"})
    assert refused.json()["error"] == "The model graphs is not served by CTranslate2; ask for onnx or torch."


def test_it_says_so_and_answers_other_programs_too(served: httpx.Client, folder: Path) -> None:
    (model,) = served.get("/v1/models").json()["models"]
    assert (model["engine"], model["engines"]) == ("onnx", ["onnx", "torch"])
    answer = served.post("/translate", json={"q": TEXT, "source": "pt", "target": "en"}).json()
    assert answer["translatedText"] == regard.load(folder).translate([TEXT])[0].text


def test_an_engine_that_is_named_needs_its_export(folder: Path, back: Path) -> None:
    with pytest.raises(Fault, match="regard export"):
        ServedTranslator("graphs", folder, "ctranslate2")
    with pytest.raises(Fault, match="regard export"):
        ServedTranslator("back", back, "onnx")
    assert ServedTranslator("graphs", folder, "torch").fast is None


@pytest.fixture(scope="module")
def both(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model with two exports whose outputs rounding cannot change.

    Both are in float32: sums of CTranslate2's int8 overflow on some CPUs, which moves scores by more than a nat.
    """
    (best,) = regard.load(folder).translate([TEXT], n_best=2)
    (_, first), (_, second) = best.n_best
    assert first - second > 0.1  # float32 moves them by 1e-4
    copied = shutil.copytree(folder, tmp_path_factory.mktemp("both") / "exports")
    assert main(["export", str(copied), "--to", "ctranslate2", "--quantisation", "float32"]) == 0
    return copied


def test_a_sentence_shares_a_batch_where_others_wait(both: Path) -> None:
    model = ServedTranslator("exports", both)
    request = TranslateRequest(text=[TEXT])
    assert model.plan(request).engine == "onnx"
    model.waiting = lambda: 1
    assert model.plan(request).engine == "ctranslate2"
    assert model.plan(request.model_copy(update={"engine": "onnx"})).engine == "onnx"


def test_a_translator_is_told_how_many_wait(both: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = Catalogue(open_models([both]), ServingOptions(), Metrics())
    (model,) = catalogue.translators.values()
    monkeypatch.setattr(Worker, "waiting", 5)
    assert model.waiting() == 5
    catalogue.close()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("texts", "engine", "answered"),
    [
        (TEXT, "auto", "onnx"),
        (f"{TEXT} {TEXT}", "auto", "ctranslate2"),
        ([TEXT, TEXT], "auto", "ctranslate2"),
        (TEXT, "ctranslate2", "ctranslate2"),
        ([TEXT, TEXT], "onnx", "onnx"),
        (TEXT, "torch", "torch"),
    ],
)
def test_of_two_exports_each_does_what_it_is_faster_at(
    both_served: httpx.Client, both: Path, texts: str | list[str], engine: str, answered: str
) -> None:
    response = both_served.post("/v1/translate", json={"text": texts, "engine": engine}).json()
    assert response["engine"] == answered
    (expected,) = regard.load(both).translate([TEXT])
    assert expected.text in response["translations"][0]["text"]


@pytest.fixture(scope="module")
def both_served(both: Path) -> Iterator[httpx.Client]:
    with on_loopback(make_app([both])) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_an_operator_is_told_that_two_exports_round_differently(both: Path, folder: Path) -> None:
    remarks: list[str] = []
    make_app([both, folder], warn=remarks.append)
    (remark,) = remarks
    assert remark.startswith("exports translates single sentences with ONNX and several with CTranslate2")
    make_app([both], warn=remarks.append, engine="ctranslate2")
    assert len(remarks) == 1


def test_both_exports_are_named_and_one_can_be_taken_for_all(both_served: httpx.Client, both: Path) -> None:
    (model,) = both_served.get("/v1/models").json()["models"]
    assert model["engines"] == ["ctranslate2", "onnx", "torch"]
    assert ServedTranslator("exports", both, "onnx").engines == ["onnx", "torch"]
