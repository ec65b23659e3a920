"""`regard look`: its options and the contents of its files."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.cli import main

sys.path.insert(0, str(Path(__file__).parent))
from pages import page_data

TEXT, TARGET = "I see the red house.", "Eu vejo a casa vermelha."


@pytest.fixture
def look(trained: Path, tmp_path: Path) -> Any:
    def run(name: str, *options: str) -> Path:
        path = tmp_path / name
        arguments = ["look", str(trained), "--text", TEXT, "--target", TARGET, *options, "-o", str(path)]
        assert main(arguments) == 0
        return path

    return run


def numbers(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_numbers_are_what_was_seen(look: Any, trained: Path) -> None:
    import regard
    from regard.seeing.sentences import see

    report = numbers(look("one.json", "--layer", "2", "--head", "1", "--tokens"))
    seen = see(regard.load(trained), TEXT, TARGET).seen(by_word=False)
    (matrix,) = report["matrices"]
    assert (report["text"], report["output"], report["side"]) == (TEXT, TARGET, "cross")
    assert np.array_equal(matrix["weights"], seen.blocks[1].weights[0])
    assert matrix["title"] == "cross, block 2, head 1"


def test_mean_and_maximum_are_those_of_the_heads(look: Any) -> None:
    heads = [numbers(look(f"{head}.json", "--head", head))["matrices"][0]["weights"] for head in "12"]
    mean, largest = (numbers(look(f"{how}.json", "--heads", how))["matrices"][0] for how in ("mean", "max"))
    assert np.allclose(mean["weights"], np.mean(heads, axis=0))
    assert np.allclose(largest["weights"], np.max(heads, axis=0))
    assert largest["title"] == "cross, block 1, maximum of 2 heads"


def test_lines_are_two_lines_of_text(look: Any) -> None:
    matrix, lines = look("matrix.svg"), look("lines.svg", "--lines")
    assert "link-0-0" in lines.read_text(encoding="utf-8")
    assert "link-0-0" not in matrix.read_text(encoding="utf-8")
    for word in ("vermelha", "house"):
        assert f">{word}</text>" in lines.read_text(encoding="utf-8")


def test_a_page_has_all_sides_and_opens_where_it_was_told(look: Any) -> None:
    data = page_data(look("page.html"))
    assert list(data["modes"]) == ["words", "tokens"]
    assert list(data["modes"]["words"]) == ["cross", "encoder", "decoder"]
    assert [len(side["blocks"]) for side in data["modes"]["words"].values()] == [2, 1, 2]
    assert data["start"] == {"side": "cross", "layer": None, "head": "mean", "mode": "words"}
    assert (data["source"]["language"], data["target"]["language"]) == ("en", "pt")
    chosen = page_data(look("chosen.html", "--side", "decoder", "--layer", "2", "--head", "2", "--tokens"))
    assert chosen["start"] == {"side": "decoder", "layer": 2, "head": 2, "mode": "tokens"}
    assert page_data(look("max.html", "--heads", "max"))["start"]["head"] == "max"


def test_a_page_has_every_place_of_the_output_and_the_beam(look: Any, trained: Path) -> None:
    import regard
    from regard.seeing.next_token import next_choices

    data = page_data(look("page.html"))
    tokens, places = data["next"]["tokens"], data["next"]["places"]
    assert "".join(tokens[:-1]).replace("▁", " ").strip() == TARGET
    assert len(tokens) == len(places)
    choices = next_choices(regard.load(trained), TEXT, prefix="Eu vejo")
    there = places[len(choices.before)]
    assert there["tokens"][:12] == list(choices.tokens)
    assert np.exp(there["log_probabilities"][:12]) == pytest.approx(choices.panels[0].probabilities[:12], rel=1e-3)
    assert all(tokens[at] == place["tokens"][place["taken"]] for at, place in enumerate(places) if place["taken"])
    assert data["beam"]["nodes"][data["beam"]["outputs"][0]]["fate"] == "won"


def test_a_beam_too_large_for_the_page_is_left_away_with_a_word(
    look: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.viewing import tree as tree_page

    monkeypatch.setattr(tree_page, "MOST_NODES", 3)
    assert "beam" not in page_data(look("page.html"))
    assert "The page omits the beam: it has more than 3 hypotheses" in capsys.readouterr().err


def test_a_page_too_large_with_its_tokens_has_words_alone(
    look: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.viewing import page

    monkeypatch.setattr(page, "MOST_WEIGHTS", 600)
    assert list(page_data(look("page.html"))["modes"]) == ["words"]
    assert "The page shows only words: with tokens it would have more than 600 weights" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "a.bmp"], "does not end in .png, .svg, .html or .json"),
        (["--head", "1", "--heads", "max"], "--head shows one head and --heads joins them all"),
        (["--sheet", "--layer", "1"], "omit --layer and --head"),
        (["--sheet", "--heads", "max"], "omit --heads"),
        (["--sheet", "--lines", "-o", "a.png"], "omit --lines"),
        (["--sheet", "-o", "a.html"], "A page has its sheet already"),
        (["--lines"], "--lines draws a .png or an .svg"),
        (["--lines", "-o", "a.json"], "--lines draws a .png or an .svg"),
        (["--layer", "3"], "This model has 2 blocks of 2 heads on that side"),
        (["--side", "encoder", "--layer", "2"], "This model has 1 block of 2 heads on that side"),
        (["--target", "casa " * 1100], "tokens, but the model takes at most 1024; shorten it"),
        (["--text", "house " * 1100], "tokens, but the model takes 1024 at most; split it"),
    ],
)
def test_what_contradicts_itself_is_refused(
    trained: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["look", str(trained), "--text", TEXT, "--target", TARGET, *options]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_text_of_two_lines_is_named_whole(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(trained), "--text", "I see.\nYou read.", "--target", TARGET]) == 0
    assert capsys.readouterr().err.startswith(f"I see.\\nYou read. → {TARGET}\n")
