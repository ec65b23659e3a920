"""`regard show attention` and `regard show forward`: in every form, and what they refuse."""

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
    words = ["--text", "Ana reads.", "--target", "Ana lê."]
    command = ["show", "attention", models["transformer"], *words, "--side", "cross"]
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


def test_the_pass_of_the_example_is_printed_as_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "forward", "--depth", "2"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "I love"
    tree = [line.split("  ")[0] or line.split("  ")[1] for line in printed[3:11]]
    assert tree[3:6] == ["Block 1", "Residual around self-attention", "Residual around the feed-forward net"]
    assert printed[-1].startswith("love")
    assert "books" in printed[-1]


@pytest.mark.long
def test_a_pass_in_every_form(models: dict[str, str], tmp_path: Path) -> None:
    command = ["show", "forward", models["transformer"], "--text", TEXT, "--target", TARGET]
    for name in ("f.png", "f.json", "f.html"):
        assert main([*command, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    numbers = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    data = page_data(tmp_path / "f.html")
    assert [layer["name"] for layer in data["layers"]] == [layer["name"] for layer in numbers["layers"]]
    logits = numbers["layers"][-1]
    assert len(logits["values"][0]) == logits["shape"][1] > len(data["layers"][-1]["values"][0]) == 8
    assert len(data["guesses"]) == len(numbers["guesses"]) == len(logits["rows"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--text", TEXT], "as in `regard show forward runs/demo --text …`"),
        (["transformer"], "There is no text to read; give a sentence with --text."),
        (["transformer", "--text", TEXT, "--query", "99"], "there is no token 99."),
        (["gpt", "--text", "a " * 40], "tokens, but the model reads 12 at once; shorten it."),
        (["bert", "--text", "a " * 40], "tokens, but this model reads"),
        (["gru", "--text", TEXT], "this model is a seq2seq"),
    ],
)
def test_a_pass_that_cannot_be_followed_is_refused(
    options: list[str], words: str, models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "forward", *(models.get(option, option) for option in options)]) == 2
    assert words in capsys.readouterr().err
