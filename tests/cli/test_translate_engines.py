"""The choice of engine; the lines are the same."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.cli import main
from regard.hardware.threads import so_many_threads
from regard.model import load
from regard.verbs.translate.plan import Engine

LINES = ["I love books.", "", "Ana sees the red house. The boys read."]


@pytest.fixture(scope="module", params=["ctranslate2", "onnx"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@pytest.fixture(scope="module")
def exported(engine: Engine, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "run"
    shutil.copytree(trained, folder)
    assert main(["export", str(folder), "--to", engine, "--quantisation", "float32"]) == 0
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "in.en"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    assert main(["translate", *arguments]) == 0
    return capsys.readouterr().out.split("\n")[:-1]


SEARCH = ("--beam", "2", "--set", "stop=first")


def test_the_export_is_taken_and_torch_never_loaded(exported: Path, text: Path) -> None:
    program = (
        "import sys; from regard.cli import main; code = main(sys.argv[1:]); "
        "sys.exit('torch was loaded' if 'torch' in sys.modules else code)"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, "translate", str(exported), str(text), "--json", "--split-sentences"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert len(process.stdout.splitlines()) == 3


def test_torch_keeps_its_threads_beside_an_export(exported: Path, engine: Engine) -> None:
    model = load(exported)
    with so_many_threads(2):
        model.translate(LINES, beam=1, engine=engine)
        assert torch.get_num_threads() == 2


def test_both_engines_give_the_same_lines(
    exported: Path, engine: str, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (("--split-sentences",), ("--n-best", "2")):
        arguments = (str(exported), str(text), *SEARCH, *more)
        assert lines_of(capsys, *arguments) == lines_of(capsys, *arguments, "--engine", "torch")
    arguments = (str(exported), str(text), *SEARCH, "--json")
    both = (lines_of(capsys, *arguments, "--engine", name) for name in (engine, "torch"))
    for fast, plain in zip(*(map(json.loads, lines) for lines in both), strict=True):
        assert (fast["text"], fast["tokens"], fast["alignment"]) == (plain["text"], plain["tokens"], plain["alignment"])
        assert fast["score"] == pytest.approx(plain["score"], abs=1e-3)
        assert fast["token_scores"] == pytest.approx(plain["token_scores"], abs=1e-3)


@pytest.mark.one_in(2)
def test_what_an_export_cannot_do_torch_does(
    exported: Path, engine: str, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (("--sample", "--seed", "2"), ("--set", "groups=2", "--beam", "2"), ("--forbid", "x")):
        arguments = (str(exported), str(text), *more)
        assert lines_of(capsys, *arguments) == lines_of(capsys, *arguments, "--engine", "torch")
        assert main(["translate", *arguments, "--engine", engine]) == 2
        assert {"ctranslate2": "CTranslate2 cannot", "onnx": "onnxruntime cannot"}[engine] in capsys.readouterr().err


def test_an_engine_that_is_not_there_is_said(
    trained: Path, engine: str, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", str(trained), str(text), "--engine", engine]) == 2
    assert f"holds no export; make one with `regard export {trained} --to {engine}`." in capsys.readouterr().err


def test_long_lines_are_refused_by_number(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = tmp_path / "long.en"
    long.write_text("short\n" + "the red house " * 700 + "\n", encoding="utf-8")
    assert main(["translate", str(exported), str(long)]) == 2
    assert "Line 2: " in capsys.readouterr().err
