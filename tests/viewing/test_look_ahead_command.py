"""`regard look --beam` and `regard look --next`: every kind of file, the terminal, and refusals."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main

sys.path.insert(0, str(Path(__file__).parent))
from pages import page_data

from regard.viewing.canvas import show_word

TEXT = "I see the red house."


@pytest.fixture
def look(trained: Path, tmp_path: Path) -> Callable[..., Path]:
    def run(name: str, *options: str) -> Path:
        path = tmp_path / name
        assert main(["look", str(trained), "--text", TEXT, *options, "-o", str(path)]) == 0
        return path

    return run


def numbers(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_beam_in_every_kind_of_file(look: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    report = numbers(look("beam.json", "--beam", "--width", "3"))
    assert (report["text"], report["width"], len(report["outputs"])) == (TEXT, 3, 3)
    assert f"{TEXT} → {show_word(report['outputs'][0]['text'])}" in capsys.readouterr().err
    page = page_data(look("beam.html", "--beam", "--width", "3"))
    assert [node["token"] for node in page["nodes"]] == [node["token"] for node in report["nodes"]]
    assert (page["source"]["language"], page["target"]["language"]) == ("en", "pt")
    assert "best output" in look("beam.svg", "--beam", "--width", "1").read_text(encoding="utf-8")
    assert look("beam.PNG", "--beam", "--width", "2").read_bytes().startswith(b"\x89PNG")


def test_the_next_token_in_every_kind_of_file(look: Callable[..., Path]) -> None:
    report = numbers(look("next.json", "--next", "--prefix", "Eu", "--bars", "3", "--top-k", "2"))
    assert (report["written"], len(report["tokens"])) == ("Eu", 3)
    assert [panel["title"] for panel in report["panels"]] == ["the model's own", "top-k 2"]
    page = page_data(look("next.html", "--next", "--prefix", "Eu", "--bars", "3", "--top-k", "2"))
    assert (page["start"], page["shown"], len(page["tokens"])) == ({"top_k": 2}, 3, 50)
    assert page["tokens"][:3] == [token["token"] for token in report["tokens"]]
    assert "top-p 0.9" in look("next.svg", "--next").read_text(encoding="utf-8")
    assert look("next.png", "--next", "--prefix", "Eu").read_bytes().startswith(b"\x89PNG")


def test_every_option_of_sampling_reaches_the_panels(look: Callable[..., Path]) -> None:
    options = {"--temperature": "0.5", "--top-k": "9", "--top-p": "0.9", "--min-p": "0.1", "--typical": "0.8"}
    report = numbers(look("next.json", "--next", *(word for pair in options.items() for word in pair)))
    settings = {"temperature": 0.5, "top_k": 9, "top_p": 0.9, "min_p": 0.1, "typical": 0.8}
    assert report["panels"][-1]["options"] == settings
    assert len(report["panels"]) == 6


def test_the_length_penalty_reaches_the_search(look: Callable[..., Path]) -> None:
    scores = [
        numbers(look(f"{alpha}.json", "--beam", "--width", "1", "--length-penalty", alpha))["outputs"][0]["score"]
        for alpha in ("0", "2")
    ]
    assert scores[0] != scores[1]


def test_in_the_terminal(trained: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["look", str(trained), "--text", TEXT, "--beam", "--width", "2"]) == 0
    written = capsys.readouterr().out
    assert "#1 the best output" in written
    assert "\x1b" not in written
    assert main(["look", str(trained), "--text", TEXT, "--next", "--bars", "2"]) == 0
    assert "At the beginning" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--beam", "--next"], "--beam shows whole hypotheses and --next a single token; give one of the two"),
        (["--beam", "--layer", "1"], "--layer chooses an attention; omit it with --beam"),
        (["--next", "--target", "Eu"], "--target chooses an attention; omit it with --next"),
        (["--width", "3"], "--width goes with --beam; give that too"),
        (["--next", "--width", "3"], "--width goes with --beam; omit it"),
        (["--beam", "--prefix", "Eu"], "--prefix goes with --next; omit it"),
        (["--temperature", "0.5"], "--temperature goes with --next; give that too"),
        (["--bars", "3"], "--bars goes with --next; give that too"),
        (["--next", "--prefix", "Eu", "--at", "1"], "give one of the two"),
        (["--next", "--at", "1000"], "--at 1000 lies beyond its end"),
        (["--next", "--prefix", "casa " * 1100], "tokens, but an output has 1023 at most; shorten it"),
        (["--next", "--top-p", "0"], "--top-p is 0.0, expected more than 0"),
        (["--next", "--top-p", "1.5"], "--top-p is 1.5, expected 1.0 or less"),
        (["--next", "--typical", "0"], "--typical is 0.0, expected more than 0"),
        (["--as-is"], "does not read pictures of a fixed size; omit --as-is"),
        (["--next", "--as-is"], "does not read pictures of a fixed size; omit --as-is"),
        (["--next", "--top-k", "0"], "--top-k"),
        (["--next", "--temperature", "nan"], "--temperature"),
        (["--next", "--temperature", "inf"], "--temperature"),
        (["--beam", "--width", "0"], "--width"),
        (["--beam", "--length-penalty", "nan"], "--length-penalty"),
        (["--beam", "--length-penalty", "inf"], "--length-penalty is inf, expected a finite number"),
        (["--beam", "--text", " "], "There is no text to look at"),
        (["--next", "--text", "house " * 1100], "tokens, but the model takes 1024 at most; split it"),
        (["--beam", "-o", "a.bmp"], "does not end in .png, .svg, .html or .json"),
        (["--next", "-o", "nowhere/a.png"], "There is no folder nowhere"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    trained: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["look", str(trained), "--text", TEXT, *options]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert "Traceback" not in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("view", ["--beam", "--next"])
def test_a_file_that_is_there_stays_unless_told(
    trained: Path, view: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text("mine")
    arguments = ["look", str(trained), "--text", TEXT, view, "-o", str(path)]
    assert main(arguments) == 2
    assert "exists already; give --overwrite" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main([*arguments, "--overwrite"]) == 0
    assert numbers(path)["text"] == TEXT


@pytest.mark.long
def test_what_no_font_can_draw_is_told_of_a_picture_but_not_of_svg(
    look: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.viewing import choices as choices_picture
    from regard.viewing import tree as tree_picture

    for module, view in ((tree_picture, "--beam"), (choices_picture, "--next")):
        monkeypatch.setattr(module, "missing_glyphs", lambda texts: {"本"})
        more = ["--width", "1"] if view == "--beam" else []
        out = look(f"{view}.png", view, *more)
        message = capsys.readouterr().err
        assert "No font here can draw 本" in message
        assert f"Wrote {out}." in message
        look(f"{view}.svg", view, *more)
        assert "No font" not in capsys.readouterr().err
