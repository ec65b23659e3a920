"""The engines of a server for models that answer and write: the server's choice, and that of a request."""

from collections.abc import Mapping
from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toys import open_trained_toy

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.engines.fast import Choice, TextChoice
from regard.serving.app import make_app
from regard.serving.catalogue import open_models

TEXT, PROMPT = "the film is good", "the"
ENGINES: tuple[TextChoice, ...] = ("torch", "onnx")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return a classifier and a language model whose exports have eight bits, so that their numbers tell the engine."""
    place, made = tmp_path_factory.mktemp("text-engines"), []
    for family in ("encoder", "gpt"):
        (place / family).mkdir()
        folder = open_trained_toy(family, place / family).folder.folder.rename(place / f"{family}-model")
        assert main(["export", str(folder), "--to", "onnx", "--quantisation", "int8"]) == 0
        made.append(folder)
    return made


@pytest.fixture(scope="module")
def numbers(folders: list[Path]) -> Mapping[str, tuple[float, float]]:
    """Return the classifier's probability and the score of the text that is written, by engine."""
    classifier, writer = map(regard.load, folders)
    by_engine: dict[str, tuple[float, float]] = {
        engine: (
            classifier.answer([TEXT], engine=engine)[0].probability,
            writer.generate([PROMPT], tokens=4, beam=1, engine=engine)[0][0].score,
        )
        for engine in ENGINES
    }
    for ours, theirs in zip(*by_engine.values(), strict=True):
        assert abs(ours - theirs) > 1e-6  # else the tests below could not tell the engines apart
    return by_engine


@pytest.mark.one_in(2)
@pytest.mark.parametrize("of_server", ["auto", "torch", "onnx", "ctranslate2"])
def test_a_request_may_choose_and_otherwise_the_server_does(
    of_server: Choice, folders: list[Path], numbers: Mapping[str, tuple[float, float]]
) -> None:
    application = make_app(folders, engine=of_server)
    with on_loopback(application) as address, httpx.Client(base_url=address, timeout=60) as client:
        for of_request in ("auto", *ENGINES):
            answered = client.post(
                "/v1/answer", json={"model": "encoder-model", "inputs": [TEXT], "engine": of_request}
            ).json()
            written = client.post(
                "/v1/generate",
                json={"model": "gpt-model", "prompt": PROMPT, "tokens": 4, "beam": 1, "engine": of_request},
            ).json()
            found = answered["answers"][0]["probability"], written["texts"][0][0]["score"]
            of_auto = "torch" if of_server == "torch" else "onnx"
            assert found == pytest.approx(numbers[of_auto if of_request == "auto" else of_request], abs=1e-7)


def test_a_server_of_onnx_refuses_a_model_without_its_export_at_once(tmp_path: Path, folders: list[Path]) -> None:
    folder = open_trained_toy("encoder", tmp_path).folder.folder
    with pytest.raises(Fault, match="holds no export; make one with `regard export"):
        open_models([*folders, folder], "onnx")


def test_a_family_without_graphs_is_served_by_torch_next_to_onnx(tmp_path: Path, folders: list[Path]) -> None:
    folder = open_trained_toy("rnn", tmp_path).folder.folder
    application = make_app([*folders, folder], engine="onnx")
    (expected,) = regard.load(folder).answer([TEXT])
    with on_loopback(application) as address, httpx.Client(base_url=address, timeout=60) as client:
        answered = client.post("/v1/answer", json={"model": folder.name, "inputs": [TEXT]}).json()
    assert answered["answers"][0]["probability"] == pytest.approx(expected.probability, abs=1e-7)
