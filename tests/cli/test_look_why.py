"""`regard look --why`: its forms, the choice of what is explained, and refusals."""

import json
import sys
from pathlib import Path

import pytest
from small import undrawn
from toys import open_trained_toy

sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from untrained import untrained_folder

import regard
from regard.cli import main

TEXT = "Ana reads a green book."


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sizes = {"encoder_layers": 2, "decoder_layers": 2}
    return untrained_folder(tmp_path_factory.mktemp("why"), "transformer", "unigram", **sizes)


def numbers(model: Path, out: Path, *options: str) -> dict[str, object]:
    """Return what `look --why` writes as JSON."""
    assert main(["look", str(model), TEXT, "-o", str(out), "--overwrite", *options]) == 0
    report: dict[str, object] = json.loads(out.read_text(encoding="utf-8"))
    return report


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", ["occlusion", "all", "lens", "heads", "units"])
def test_every_form_can_be_written(
    translator: Path, tmp_path: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["look", str(translator), TEXT, "--why", method, "--output", "Ana lê um livro."]
    for suffix in ("png", "svg", "html", "json"):
        path = tmp_path / f"why.{suffix}"
        assert main([*asked, "-o", str(path)]) == 0
        assert path.stat().st_size > 500
    capsys.readouterr()
    assert main(asked) == 0
    printed = capsys.readouterr().out
    words = {"lens": "would write", "heads": "head 2", "units": "unit", "occlusion": "green", "all": "green"}
    assert words.get(method, "") in printed


def test_place_and_word_choose_what_is_explained(translator: Path, tmp_path: Path) -> None:
    out, common = tmp_path / "why.json", ("--why", "gradient", "--output", "Ana lê um livro.")
    last = numbers(translator, out, *common)
    assert last["chosen"] == "o"  # of livro; a full stop is explained only if it is asked for
    assert numbers(translator, out, *common, "--word", ".")["chosen"] == "."
    assert numbers(translator, out, *common, "--place", "1")["chosen"] != last["chosen"]
    word = numbers(translator, out, *common, "--word", "livro")
    assert word["chosen"] == "livro"
    view = regard.load(translator, device="cpu").why(TEXT, "gradient", output="Ana lê um livro.", word="livro")
    assert view.numbers() == word


def test_all_methods_name_those_without_a_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = untrained_folder(tmp_path / "model", "seq2seq")
    report = numbers(folder, tmp_path / "why.json", "--why", "all", "--output", "Ana lê")
    assert [found["method"] for found in report["maps"]][:2] == ["attention", "gradient"]  # type: ignore[attr-defined]
    assert set(report["refused"]) == {"rollout", "flow"}  # type: ignore[call-overload]
    assert "need blocks of self-attention" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--why", "magic"], "There is no method 'magic'; the methods are attention"),
        (["--why", "occlusion", "--output", "Ana", "--place", "99"], "so there is no token number 99."),
        (
            ["--why", "occlusion", "--output", "Ana lê", "--word", "livro"],
            "The output has no word 'livro'; its words are",
        ),
        (
            ["--why", "occlusion", "--output", "Ana lê", "--word", "lê", "--place", "1"],
            "Token 1 of the output belongs to 'Ana', not to 'lê'.",
        ),
        (["--why", "occlusion", "--layer", "1"], "A layer and a head choose an attention; omit them with occlusion."),
        (["--why", "occlusion", "--beam"], "--beam and --why are views of different things; give one of them."),
        (["--why", "occlusion", "--side", "cross"], "--side chooses an attention; omit it with --why."),
        (["--why", "attention", "--output", "Ana", "--layer", "9"], "This model has 2 blocks of 2 heads on that side."),
        (["--why", "patching"], "Patching takes states from another input; give one to take them from (--from)."),
        (["--why", "occlusion", "--from", "Ana"], "goes with patching; omit it with occlusion."),
        (["--why", "patching", "--output", "Ana", "--from", "Ana"], "patching needs the same number"),
        (["--why", "patching", "--output", "Ana", "--from", TEXT], "so nothing can move; give another."),
        (["--place", "1"], "--place goes with --why; give that too."),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(
    translator: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["look", str(translator), TEXT, *options]) == 2
    assert sentence in capsys.readouterr().err


def test_an_empty_text_is_refused(translator: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(translator), "--text", " ", "--why", "occlusion"]) == 2
    assert "There is no text to read; give a sentence." in capsys.readouterr().err


@pytest.mark.parametrize("toy", ["draw", "tacotron", "painter", "word2vec", "sketchformer", "ngram", "bag"])
def test_families_without_a_decision_are_refused(toy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with undrawn():
        folder = open_trained_toy(toy, tmp_path).folder.folder
    capsys.readouterr()
    assert main(["look", str(folder), "--text", "a b", "--why", "occlusion"]) == 2
    said = capsys.readouterr().err
    assert "makes no single decision" in said or "counts words" in said
