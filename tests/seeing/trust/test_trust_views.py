"""`look --why METHOD --trust`: figures in the terminal, as numbers and on the page."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "why"))
from why_models import toy_item, toy_model

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.seeing.trust.measured import RANDOM, measure_maps
from regard.seeing.why.explaining import WhyRequest
from regard.seeing.why.maps import METHODS
from regard.seeing.why.views import view_why
from regard.verbs.opening import model_in

LINE = "k v R m z ="
FIGURES = ["comprehensiveness", "sufficiency", "deletion", "insertion"]
RECIPE = """
family = "gpt"
task = "language"
seed = 1

[data]
train = "capitals:valid"
valid = "capitals:test"

[model]
preset = "tiny"
layers = 1
width = 16
heads = 2
context = 16

[training]
steps = 2
batch = 4
validate_every = 2
save_every = 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model of lines with capitals, hardly trained."""
    folder = tmp_path_factory.mktemp("capitals")
    (folder / "recipe.toml").write_text(RECIPE)
    assert main(["train", str(folder / "recipe.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_the_terminal_prints_the_figures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(folder), LINE, "--why", "occlusion", "--output", "r", "--trust"]) == 0
    printed = capsys.readouterr().out
    for name in (*FIGURES, "truth: area", "truth: mass", "truth: top"):
        assert name in printed
    assert "the capital that a letter repeats" in printed


def test_without_the_option_nothing_is_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(folder), LINE, "--why", "occlusion", "--output", "r"]) == 0
    assert "comprehensiveness" not in capsys.readouterr().out


def test_numbers_and_page_have_the_figures(folder: Path, tmp_path: Path) -> None:
    view = regard.load(folder).why(LINE, "all", output="r", trust=True)
    for found in view.numbers()["maps"]:
        trust = found["trust"]
        assert list(trust["figures"]) == FIGURES
        assert list(trust["shares"]["sufficiency"]) == ["0.01", "0.05", "0.1", "0.2", "0.5"]
        assert trust["curves"]["deletion"][0] == pytest.approx(trust["curves"]["insertion"][-1])
        assert trust["curves"]["deletion"][0] == pytest.approx(trust["probability"])
        assert trust["truth"]["units"] == [3]
        assert trust["truth"]["area"]["random"] == 0.5
    shown = view.drawing.page().data["maps"]
    assert [found["trust"] for found in shown] == [found["trust"] for found in view.numbers()["maps"]]
    page = view.save(tmp_path / "why.html").read_text(encoding="utf-8")
    assert page.count('"comprehensiveness":{"value":') == len(shown)
    json.dumps(view.numbers(), allow_nan=False)


def test_a_text_that_nobody_made_has_curves_but_no_truth(folder: Path) -> None:
    (found,) = regard.load(folder).why("k v r", "gradient", output="m", trust=True).numbers()["maps"]
    assert list(found["trust"]["figures"]) == FIGURES
    assert "truth" not in found["trust"]


def test_figures_of_a_sound_are_a_table_below_it(tmp_path: Path) -> None:
    model = toy_model("ctc", tmp_path)
    view = view_why(model, toy_item("ctc", "transcription", tmp_path), WhyRequest("occlusion", "ab", trust=True))
    plain, tables = "\n".join(view.drawing.lines(200, colour=False)).split("\n\n")
    assert plain.startswith("Why “b”?\n")
    for name in FIGURES:
        assert name in tables
        assert name not in plain
        assert name in view.drawing.page().data["title"]
    view.save(tmp_path / "why.svg")
    assert "comprehensiveness" in (tmp_path / "why.svg").read_text()


def test_what_several_maps_lack_is_remarked_once(tmp_path: Path) -> None:
    model, remarks = toy_model("ctc", tmp_path), []
    view = view_why(model, toy_item("ctc", "transcription", tmp_path), WhyRequest("all", "ab"), remarks.append)
    refused = view.numbers()["refused"]
    assert refused["rollout"] == refused["flow"]
    assert remarks.count(refused["flow"]) == 1


def test_trust_goes_with_maps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(folder), LINE, "--trust"]) == 2
    assert "--trust goes with --why" in capsys.readouterr().err
    assert main(["look", str(folder), LINE, "--why", "lens", "--trust"]) == 2
    assert "lens gives none" in capsys.readouterr().err


def test_maps_are_measured_on_decisions_that_are_right(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_in(folder, "cpu")
    with pytest.raises(Fault, match="None of 3 decisions was right"):
        measure_maps(model, 3)
    monkeypatch.setattr("regard.seeing.trust.measured._SURE", 0.0)
    found = measure_maps(model, 3)
    assert (found.asked, found.right, found.family) == (3, 3, "gpt")
    assert {*found.methods, *found.refused} == {*METHODS, RANDOM}
    assert all(0 <= figures["area"] <= 1 for figures in found.methods.values())
    again = measure_maps(model, 3, ["gradient"])
    assert list(again.methods) == ["gradient", RANDOM]
    assert again.methods[RANDOM] == pytest.approx(found.methods[RANDOM])


def test_data_that_nobody_made_cannot_be_measured(trained: Path) -> None:
    with pytest.raises(Fault, match="Nobody knows which units matter"):
        measure_maps(model_in(trained, "cpu"), 3)
