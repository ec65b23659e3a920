"""`regard look --examples`: a table, files, and what is refused."""

import json
from pathlib import Path

import pytest
from toys import open_trained_toy

from regard.cli import main


def test_examples_are_listed_token_by_token(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--target", "Eu amo livros."]
    assert main(["look", str(trained), "I love books.", "--examples", "2", *target, "--from-lines", "50"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].endswith("of the 2 nearest were followed by it")
    assert lines[1].split() == ["cosine", "training", "text", "with", "followed", "by"]
    assert lines[2].startswith(" 1.000  I love books.")
    assert "of 50 of 300 training texts, as in k-nearest-neighbour translation" in lines[-1]
    assert "comparing 50 of 50" in printed.err


@pytest.mark.parametrize("name", ["near.png", "near.svg", "near.html", "near.json"])
def test_examples_as_a_file(trained: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    arguments = ["--examples", "2", "--states", "encoder", "--by", "l2", "--at", "1", "--from-lines", "20"]
    assert main(["look", str(trained), "I love books.", *arguments, "-o", str(out)]) == 0
    assert out.stat().st_size > 300
    if name == "near.json":
        numbers = json.loads(out.read_text(encoding="utf-8"))
        assert [place["name"] for place in numbers["places"]] == ["love"]
        assert numbers["places"][0]["examples"][0]["l2"] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--states", "encoder"], "--states goes with --examples; give that too."),
        (["--by", "l2", "--beam"], "--by goes with --examples; omit it."),
        (["--at", "1"], "--at goes with --next or --examples; give that too."),
        (["--examples", "2", "--head", "1"], "--head chooses an attention; omit it with --examples."),
        (["--examples", "2", "--next"], "--next and --examples are views of different things"),
        (["--examples", "2", "--bars", "3"], "--bars goes with --next; omit it."),
        (["--examples", "2", "--at", "99", "--from-lines", "5"], "There is no place after 99 tokens"),
        (["--examples", "0"], "Invalid value for '--examples': expected 1 or more."),
    ],
)
def test_what_is_refused(trained: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["look", str(trained), "I love books.", *arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_model_without_vectors_of_tokens_is_refused_with_the_models_that_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = open_trained_toy("tacotron", tmp_path).folder.folder
    capsys.readouterr()
    for view in ("--examples", "--contexts"):
        assert main(["look", str(folder), "hello", view, "3"]) == 2
        assert capsys.readouterr().err == (
            f"regard: {view} is for models with a vector for each token: translators, language models, masked models "
            "and text classifiers; a tacotron gives a sound for each text.\n"
        )


def test_a_gallery_of_a_model_without_captions_is_refused(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "gallery", str(trained), "-o", str(tmp_path / "gallery.html")]) == 2
    message = capsys.readouterr().err
    assert message.startswith("regard: A gallery is for models that caption pictures or videos; a ")
    assert message.endswith(" gives a text for each text.\n")
