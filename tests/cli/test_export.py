"""`regard export`: into the model folder by default, elsewhere on request, and never over other files."""

import shutil
import sys
from pathlib import Path

import ctranslate2
import pytest

from regard.cli import main
from regard.engines.ctranslate2.engine import load_engine
from regard.engines.exported import CTRANSLATE2, is_export
from regard.verbs.translate.model import load_translation_model

sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from untrained import untrained_folder


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_export_goes_into_the_model_folder_and_computes_in_eight_bits(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(copied), "--to", "ctranslate2"]) == 0
    written = capsys.readouterr()
    assert written.out == ""
    assert f"{copied / 'ctranslate2'} is {copied} for ctranslate2" in written.err
    assert is_export(copied / CTRANSLATE2)
    translator = ctranslate2.Translator(str(copied / "ctranslate2"), compute_type="default")
    assert translator.compute_type.startswith("int8")
    load_engine(copied)
    load_translation_model(copied, device="cpu")  # the folder is still a model


def test_export_elsewhere_leaves_the_model_as_it_was(copied: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "export"
    assert main(["export", str(copied), "--to", "ctranslate2", "-o", str(out), "--quantisation", "float32"]) == 0
    assert not is_export(copied / CTRANSLATE2)
    assert ctranslate2.contains_model(str(out))
    assert ctranslate2.Translator(str(out)).compute_type == "float32"
    assert {path.name for path in out.parent.iterdir()} == {"export"}


def test_export_goes_through_a_link_and_leaves_it_one(copied: Path, tmp_path: Path) -> None:
    link, behind = tmp_path / "link", tmp_path / "behind"
    link.symlink_to(behind)
    for more in ((), ("--overwrite",)):
        assert main(["export", str(copied), "--to", "ctranslate2", "-o", str(link), *more]) == 0
        assert link.is_symlink()
        assert ctranslate2.contains_model(str(behind))


def test_a_folder_that_holds_the_model_is_not_replaced(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "encoder.onnx").touch()  # so that it looks like an earlier export
    assert main(["export", str(copied), "--to", "onnx", "-o", str(tmp_path), "--overwrite"]) == 2
    assert f"{tmp_path} is or contains the model itself; write the export elsewhere." in capsys.readouterr().err
    load_translation_model(copied, device="cpu")


def test_export_replaces_an_export_only_when_told_to(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", str(copied), "--to", "ctranslate2"]
    assert main(arguments) == 0
    before = files(copied / "ctranslate2")
    capsys.readouterr()
    assert main([*arguments, "--quantisation", "float32"]) == 2
    assert "exists already; give --overwrite to replace it" in capsys.readouterr().err
    assert files(copied / "ctranslate2") == before
    assert main([*arguments, "--quantisation", "float32", "--overwrite"]) == 0
    assert len(files(copied / "ctranslate2")["model.bin"]) > len(before["model.bin"])


def test_export_never_replaces_what_is_no_export(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "letters.txt").write_text("dear", encoding="utf-8")
    for out in (treasure, copied, copied / "recipe.toml"):
        assert main(["export", str(copied), "--to", "ctranslate2", "-o", str(out), "--overwrite"]) == 2
        message = capsys.readouterr().err
        assert message.count("\n") == 1, message
    assert files(treasure) == {"letters.txt": b"dear"}
    assert (copied / "recipe.toml").is_file()


def test_export_with_a_shortlist(copied: Path) -> None:
    assert main(["export", str(copied), "--to", "ctranslate2", "--shortlist"]) == 0
    assert (copied / "ctranslate2" / "vmap.txt").read_text(encoding="utf-8").startswith("\t")
    assert main(["export", str(copied), "--to", "onnx", "--shortlist", "--quantisation", "int8"]) == 0
    assert (copied / "onnx" / "shortlist.npz").is_file()


@pytest.mark.parametrize(("to", "file"), [("onnx", "decoder.onnx"), ("marian", "model.safetensors")])
def test_export_for_other_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str, file: str) -> None:
    model = untrained_folder(tmp_path / "model", family="transformer", kind="unigram")
    out = tmp_path / to
    arguments = ["export", str(model), "--to", to, "-o", str(out)]
    assert main(arguments) == 0
    assert f"{out} is {model} for {to}" in capsys.readouterr().err
    assert (out / file).is_file()
    assert main(arguments) == 2
    assert "exists already; give --overwrite to replace it" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "marian"], "Name a folder for the marian model with -o."),
        (["--to", "marian", "--shortlist"], "--shortlist is for ctranslate2, onnx and html and has no effect"),
        (
            ["--to", "onnx", "--quantisation", "int16"],
            "is 'int16', but for onnx it is float32, int8 or int4.",
        ),
        (
            ["--to", "marian", "--quantisation", "int8"],
            "is for ctranslate2, onnx and html and has no effect",
        ),
        (["--to", "ctranslate2", "--quantisation", "int4"], "'int4', but for ctranslate2 it is int8, int16, float16,"),
        (["--to", "ctranslate3"], "'ctranslate3' is not one of 'ctranslate2', 'onnx', 'html'"),
    ],
)
def test_export_refuses_in_a_sentence(
    trained: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["export", str(trained), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_export_refuses_what_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "nothing"), "--to", "ctranslate2"]) == 2
    assert "There is no model folder at" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_export_refuses_what_ctranslate2_cannot_compute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recurrent = untrained_folder(tmp_path / "recurrent")
    assert main(["export", str(recurrent), "--to", "ctranslate2"]) == 2
    assert (
        f"CTranslate2 supports only Transformers, and {recurrent} is of the family seq2seq." in capsys.readouterr().err
    )
    odd = untrained_folder(tmp_path / "odd", family="transformer", positions="alibi")
    assert main(["export", str(odd), "--to", "ctranslate2"]) == 2
    assert "CTranslate2 cannot compute model.positions = 'alibi'; it supports" in capsys.readouterr().err
    assert not (recurrent / "ctranslate2").exists()
    assert not (odd / "ctranslate2").exists()
