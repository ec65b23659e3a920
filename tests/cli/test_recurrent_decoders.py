"""A Transformer with an SSRU decoder through the commands: train, resume, translate by two engines, look, heads."""

import json
from pathlib import Path

import pytest
from small import train_arguments, undrawn, write_corpus

from regard.cli import main

pytestmark = pytest.mark.usefixtures("no_curves")
TEXT = "I love books.\n\nAna sees the red house.\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ssru")
    with undrawn():
        assert main(train_arguments(*write_corpus(folder), folder / "run", model__decoder_cell="ssru")) == 0
    return folder / "run"


@pytest.mark.long
def test_resumed_is_never_stopped(run: Path, tmp_path: Path) -> None:
    arguments = train_arguments(*write_corpus(tmp_path), tmp_path / "again", model__decoder_cell="ssru")
    assert main([*arguments, "--set", "training.steps=5"]) == 0
    assert main([*arguments, "--resume"]) == 0
    assert (tmp_path / "again" / "weights.safetensors").read_bytes() == (run / "weights.safetensors").read_bytes()


def test_onnxruntime_translates_as_torch_does(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, outputs = tmp_path / "text", []
    text.write_text(TEXT, encoding="utf-8")
    assert main(["export", str(run), "--to", "onnx", "--quantisation", "float32"]) == 0
    for engine in ("torch", "onnx"):
        capsys.readouterr()
        assert main(["translate", str(run), str(text), "--engine", engine, "--json"]) == 0
        outputs.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert [line["text"] for line in outputs[0]] == [line["text"] for line in outputs[1]]
    assert [line["score"] for line in outputs[0]] == pytest.approx([line["score"] for line in outputs[1]], abs=1e-3)
    assert outputs[0][2]["text"]


def test_only_the_attention_that_it_has_is_shown(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(run), "I love books.", "-o", str(tmp_path / "look.json")]) == 0
    capsys.readouterr()
    assert main(["look", str(run), "I love books.", "--side", "decoder"]) == 2
    said = capsys.readouterr().err
    assert "no attention from the target to the target; it can show --side cross or --side encoder." in said
    assert main(["heads", str(run), "--json"]) == 0
    sides = {head["where"].split(".")[-2] for head in json.loads(capsys.readouterr().out)["heads"]}
    assert sides == {"self_look", "cross"}


def test_ctranslate2_refuses_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run), "--to", "ctranslate2"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "CTranslate2 cannot compute model.decoder_cell = 'ssru'; it supports 'attention'." in said
