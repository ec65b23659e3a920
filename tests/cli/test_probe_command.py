"""`regard probe`: a table, numbers, pictures and pages, and what is refused."""

import json
from pathlib import Path

import pytest
from small import turn_around
from toys import open_trained_toy

from regard.cli import main
from regard.seeing.probes import classifiers

FEW = ["--sentences", "80", "--seeds", "2"]


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train probes for a few steps, where it does not matter what they learn."""
    monkeypatch.setattr(classifiers, "EPOCHS", 1)
    monkeypatch.setattr(classifiers, "FEWEST_STEPS", 5)


@pytest.mark.usefixtures("few_steps")
def test_a_table_of_every_label_and_layer(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", str(trained), *FEW]) == 0
    printed = capsys.readouterr()
    head, *rows = printed.out.splitlines()
    assert head.split() == ["label", "layer", "accuracy", "control", "selectivity", "majority"]
    labels = ["tags", "number", "gender", "position", "links"]
    assert [row.split()[:2] for row in rows] == [[label, layer] for label in labels for layer in "01"]
    assert all(row.count("±") == 4 for row in rows)
    assert "Measured on 80 sentences" in printed.err
    assert "over 2 seeds" in printed.err


@pytest.mark.usefixtures("few_steps")
def test_numbers_of_a_decoder(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--side", "decoder", "--layers", "0,2", "--what", "gender,links", "--json"]
    assert main(["probe", str(trained), *FEW, *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["side"], report["sentences"], report["seeds"]) == ("decoder", 80, 2)
    places = [(probe["what"], probe["layer"]) for probe in report["probes"]]
    assert places == [("gender", 0), ("gender", 2), ("links", 0), ("links", 2)]
    for probe in report["probes"]:
        seeds = zip(probe["accuracy"]["seeds"], probe["control"]["seeds"], strict=True)
        assert probe["selectivity"]["seeds"] == [accuracy - control for accuracy, control in seeds]
        assert probe["accuracy"]["mean"] == pytest.approx(sum(probe["accuracy"]["seeds"]) / 2)
    assert set(report["probes"][0]["classes"]) == {"feminine", "masculine"}
    assert "verb-subject" in report["probes"][2]["classes"]


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("name", ["probes.png", "probes.svg", "probes.json", "probes.html"])
def test_probes_as_a_file(trained: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert main(["probe", str(trained), *FEW, "--what", "number", "--seeds", "1", "-o", str(out)]) == 0
    assert out.stat().st_size > 500


@pytest.mark.long
@pytest.mark.usefixtures("few_steps")
def test_a_translator_from_portuguese_reads_portuguese(trained: Path, tmp_path: Path) -> None:
    back = turn_around(trained, tmp_path / "back")
    for side in ("encoder", "decoder"):
        assert main(["probe", str(back), *FEW, "--what", "number", "--side", side]) == 0


def test_tagged_sentences(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "the_DET dog_N sees_V the_DET house_N\nAna_N eats_V the_DET apple_N\n" * 30
    (tmp_path / "tagged.txt").write_text(lines, encoding="utf-8")
    assert main(["probe", str(trained), "--tagged", str(tmp_path / "tagged.txt"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {probe["what"] for probe in report["probes"]} == {"tags", "position"}
    tags = [probe for probe in report["probes"] if probe["what"] == "tags"]
    assert set(tags[0]["classes"]) == {"DET", "N", "V"}
    assert tags[0]["accuracy"]["mean"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--what", "tags,mood"], "--what takes some of tags, number, gender, position, links; there is no 'mood'."),
        (["--what", ","], "it is empty"),
        (["--layers", "first"], "--layers is 'first', expected numbers with commas, such as 0,2."),
        (["--layers", "9", *FEW], "This model has layers 0 to 1; there is no layer 9."),
        (["--tagged", "gone.txt"], "There is no file gone.txt."),
        (["--tagged", "a.txt", "--what", "gender"], "--what gender needs generated sentences"),
        (["--tagged", "a.txt", "--side", "decoder"], "has no translations for a decoder to write"),
        (["--tagged", "a.txt", "--language", "en"], "omit it with --tagged"),
        (["--columns", "1:2"], "--columns needs --tagged"),
        (["-o", "probes.gif"], "probes.gif does not end in"),
    ],
)
def test_what_is_refused(trained: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["probe", str(trained), *arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_file_with_a_single_tag_is_refused(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tagged.txt").write_text("the_X dog_X sees_Y\n" * 19, encoding="utf-8")
    assert main(["probe", str(trained), "--tagged", str(tmp_path / "tagged.txt"), "--what", "tags"]) == 2
    assert "needs two classes with 20 examples each, and these sentences have 1;" in capsys.readouterr().err


def test_a_model_without_states_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_trained_toy("gat", tmp_path)
    folder = next(path.parent for path in sorted(tmp_path.rglob("manifest.json")))
    assert main(["probe", str(folder)]) == 2
    assert "A gat gives a class for each node" in capsys.readouterr().err
