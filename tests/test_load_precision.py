"""Models loaded in a precision other than that of their training."""

import json
from pathlib import Path

import pytest
import torch

import regard
from regard.base.faults import Fault
from regard.cli import main


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # not every CPU multiplies in bf16
def test_bf16_halves_the_weights_and_still_translates(trained: Path) -> None:
    whole, half = (regard.load(trained, "cpu", precision) for precision in ("float32", "bf16"))
    assert {parameter.dtype for parameter in half.task.parameters()} == {torch.bfloat16}
    assert {parameter.dtype for parameter in whole.task.parameters()} == {torch.float32}
    text = "I see the house."
    scores = [model.translate([text], beam=1)[0].score for model in (whole, half)]
    assert scores[0] != scores[1]
    assert scores[1] == pytest.approx(scores[0], rel=0.2)


def test_an_unknown_precision_is_refused(trained: Path) -> None:
    with pytest.raises(Fault, match=r"There is no precision 'fp8'; give float32 or bf16\."):
        regard.load(trained, precision="fp8")


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
def test_the_command_computes_in_bf16(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "in.en"
    text.write_text("I see the house.\n", encoding="utf-8")
    scores = []
    for precision in ("float32", "bf16"):
        assert main(["translate", str(trained), str(text), "--json", "--precision", precision]) == 0
        scores.append(json.loads(capsys.readouterr().out)["score"])
    assert scores[0] != scores[1]


def test_the_export_has_a_precision_of_its_own(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--engine", "ctranslate2", "--precision", "bf16"]
    assert main(["translate", str(trained), str(trained / "recipe.toml"), *options]) == 2
    assert "CTranslate2 cannot do --precision bf16" in capsys.readouterr().err
