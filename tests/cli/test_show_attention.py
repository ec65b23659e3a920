"""`regard show attention`: one head step by step, in every form, and what it refuses."""

import json
import sys
from pathlib import Path

import pytest

from regard.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from pages import page_data
from untrained import toy_folder, untrained_folder

TEXT, TARGET = "Ana reads a green book.", "Ana lê um livro verde."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    transformer = untrained_folder(folder / "transformer", "transformer")
    return {"transformer": str(transformer), "gru": str(untrained_folder(folder / "gru", cell="gru"))} | {
        name: str(toy_folder(folder / name)) for name in ("gpt", "bert")
    }


def test_the_example_is_printed_stage_by_stage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["show", "attention", "--query", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:3] == ["a causal head of width 4", "text: I love books", "query: love"]
    start = printed.index("13. Weights   α = softmax(scores + mask)")
    assert [line.strip() for line in printed[start + 2 : start + 6]] == [
        "I  love  books",
        "I      1.00  0.00   0.00",
        "› love   0.50  0.50   0.00",
        "books  0.09  0.67   0.24",
    ]
    assert printed[-1].split() == ["books", "1.33", "0.09", "1.00", "2.73"]


def test_a_trained_head_in_every_form(models: dict[str, str], tmp_path: Path) -> None:
    command = ["show", "attention", models["transformer"], "--text", TEXT, "--target", TARGET, "--side", "cross"]
    for name in ("a.png", "a.svg", "a.json", "a.html"):
        assert main([*command, "--head", "2", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "softmax(scores + mask)" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert numbers["where"] == "cross, block 1, head 2"
    (weights,) = [stage for stage in numbers["stages"] if stage["name"] == "weights"]
    assert all(abs(sum(row) - 1) < 1e-5 for row in weights["values"])
    data = page_data(tmp_path / "a.html")
    assert (data["side"], data["layer"], data["head"]) == ("cross", 1, 2)
    assert [stage["name"] for stage in data["stages"]] == [stage["name"] for stage in numbers["stages"]]


def test_barred_places_are_null_in_numbers(models: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "attention", models["gpt"], "--text", "a b", "--layer", "2", "--json"]) == 0
    stages = {stage["name"]: stage["values"] for stage in json.loads(capsys.readouterr().out)["stages"]}
    assert stages["mask"] == [[0, None, None], [0, 0, None], [0, 0, 0]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--text", TEXT], "--text needs a model; name its folder"),
        (["transformer"], "There is no text to read; give a sentence with --text."),
        (["transformer", "--text", TEXT, "--layer", "9"], "This model has 1 block there; there is no block 9."),
        (["gpt", "--text", "a", "--side", "cross"], "This model has no cross attention; omit --side."),
        (["bert", "--text", "a", "--target", "b"], "--target is for translators; this model only reads."),
        (["gru", "--text", TEXT], "this model is a seq2seq"),
        (["-o", "a.txt"], "a.txt does not end in .png, .svg, .json or .html"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    options: list[str], words: str, models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "attention", *(models.get(option, option) for option in options)]) == 2
    assert words in capsys.readouterr().err
