"""`regard show`: every view as text, numbers and picture, and refusals."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from untrained import untrained_folder

TEXT, TARGET = "Ana reads a green book.", "Ana lê um livro verde."
QUICK = ["--length", "6", "--width", "4", "--gains", "0.5,2"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return folders of one model of each kind."""
    folder = tmp_path_factory.mktemp("models")
    folders = {
        cell: untrained_folder(folder / cell, cell=cell, encoder_layers=2) for cell in ("vanilla", "lstm", "gru")
    }
    folders["transformer"] = untrained_folder(folder / "transformer", "transformer")
    folders["bytes"] = untrained_folder(folder / "bytes", kind="bytes", cell="gru", longest=60)
    return {name: str(path) for name, path in folders.items()}


def numbers(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def is_drawn(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG")


def lines_named(path: Path, panel: int = 0) -> dict[str, list[list[float]]]:
    return {line["name"]: line["points"] for line in numbers(path)["panels"][panel]["lines"]}


@pytest.fixture(scope="module")
def plain_gradients(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the gradients without further options."""
    plain = tmp_path_factory.mktemp("gradients") / "plain.json"
    assert main(["show", "gradients", *QUICK, "-o", str(plain)]) == 0
    return numbers(plain)


def test_gradients_as_text_numbers_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "gradients", *QUICK]) == 0
    message = capsys.readouterr().out
    assert "distance in steps, d  vanilla  vanilla, bound  LSTM, h and c  LSTM, h alone" in message
    assert "By length: the gradient, clipped at 1" in message
    for name in ("g.png", "g.json"):
        assert main(["show", "gradients", *QUICK, "-o", str(tmp_path / name)]) == 0
    assert is_drawn(tmp_path / "g.png")
    report = numbers(tmp_path / "g.json")
    assert [len(panel["lines"]) for panel in report["panels"]] == [5, 4, 4]
    assert [step for step, _ in lines_named(tmp_path / "g.json")["GRU"]] == list(range(7))


@pytest.mark.parametrize(
    ("options", "panel"),
    [
        (["--length", "7"], 0),
        (["--width", "5"], 0),
        (["--seed", "2"], 0),
        (["--gain", "0.5"], 0),
        (["--orthogonal"], 0),
        (["--keep", "3"], 0),
        (["--input-scale", "0.1"], 0),
        (["--cells", "gru,vanilla"], 0),
        (["--gains", "0.5,3"], 1),
        (["--clip", "0.1"], 2),
    ],
    ids=lambda option: option[0] if isinstance(option, list) else "",
)
def test_every_option_of_gradients_changes_something(
    plain_gradients: Any, tmp_path: Path, options: list[str], panel: int
) -> None:
    changed = tmp_path / "changed.json"
    assert main(["show", "gradients", *QUICK, *options, "-o", str(changed)]) == 0
    assert plain_gradients["panels"][panel]["lines"] != numbers(changed)["panels"][panel]["lines"]


def test_gradients_of_a_model(models: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "g.json"
    assert main(["show", "gradients", "--model", models["vanilla"], "--text", TEXT, "-o", str(out)]) == 0
    directions = [f"layer {number}, {way}" for number in (1, 2) for way in ("forward", "backward")]
    assert list(lines_named(out)) == [name for way in directions for name in (way, f"{way}, bound")]


@pytest.mark.long
def test_positions(tmp_path: Path) -> None:
    small = ["show", "positions", "--length", "5", "--width", "6"]
    for name in ("p.png", "p.json"):
        assert main([*small, "--heads", "2", "-o", str(tmp_path / name)]) == 0
    assert is_drawn(tmp_path / "p.png")
    report = numbers(tmp_path / "p.json")
    assert list(report) == ["sinusoidal", "dot product of sinusoids", "rotary", "ALiBi"]
    assert (len(report["ALiBi"]), len(report["sinusoidal"]), len(report["sinusoidal"][0])) == (2, 5, 6)
    assert main([*small, "--kind", "rotary", "-o", str(tmp_path / "one.json")]) == 0
    assert list(numbers(tmp_path / "one.json")) == ["rotary"]


def test_gates(models: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["show", "gates", models["lstm"], "--text", TEXT]
    assert main(command) == 0
    message = capsys.readouterr().out.splitlines()
    assert message[0].split() == ["word", "forget", "input", "output", "cell"]
    assert [line.split()[0] for line in message[1:]] == ["Ana", "reads", "a", "green", "book", ".", "</s>"]
    for name in ("g.png", "g.json"):
        assert main([*command, "-o", str(tmp_path / name)]) == 0
    assert is_drawn(tmp_path / "g.png")
    plain = numbers(tmp_path / "g.json")
    for number, option in enumerate((["--layer", "2"], ["--direction", "backward"])):
        assert main([*command, *option, "-o", str(tmp_path / f"{number}.json")]) == 0
        assert numbers(tmp_path / f"{number}.json")["traces"] != plain["traces"]
    assert main(["show", "gates", models["bytes"], "--text", "lê", "--tokens", "-o", str(tmp_path / "t.json")]) == 0
    assert numbers(tmp_path / "t.json")["words"] == ["l", "<0xC3>", "<0xAA>", "</s>"]


def test_nothing_typed_reaches_the_terminal_as_a_command(
    models: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An escape sequence in the text is shown escaped, in words and in tokens."""
    evil = "Ana \x1b[31mreads\x07 a book."
    for more in ([], ["--tokens"]):
        assert main(["show", "gates", models["bytes"], "--text", evil, *more]) == 0
        assert main(["show", "implied", models["bytes"], "--text", evil, "--target", evil, *more]) == 0
    assert main(["show", "loss", models["bytes"], "--text", evil, "--target", evil]) == 0
    message = capsys.readouterr().out
    assert not {character for character in message if character != "\n" and not character.isprintable()}
    assert r"\x1b[31mreads\x07" in message


@pytest.mark.parametrize(
    ("command", "model", "more", "names"),
    [
        ("gradients", None, QUICK, {"title", "panels"}),
        ("gradients", "lstm", ["--text", TEXT], {"title", "panels"}),
        (
            "positions",
            None,
            ["--length", "4", "--width", "6"],
            {"sinusoidal", "dot product of sinusoids", "rotary", "ALiBi"},
        ),
        ("gates", "lstm", ["--text", TEXT], {"title", "words", "units", "means", "traces", "answers"}),
        ("implied", "gru", ["--text", TEXT], {"matrices"}),
        ("loss", "gru", ["--text", TEXT, "--target", TARGET], {"source", "target", "loss", "perplexity", "tokens"}),
    ],
)
def test_numbers_on_standard_output_are_those_of_the_file(
    models: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    model: str | None,
    more: list[str],
    names: set[str],
) -> None:
    where = [] if model is None else ["--model"] * (command == "gradients") + [models[model]]
    command_line, out = ["show", command, *where, *more, "--json"], tmp_path / "numbers.JSON"
    assert main(command_line) == 0
    alone = capsys.readouterr().out
    assert main([*command_line, "-o", str(out)]) == 0
    assert capsys.readouterr().out == alone
    report = json.loads(alone)
    assert report == numbers(out)
    assert set(report) == names


def test_what_is_no_finite_number_becomes_null(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("regard.seeing.lessons.jacobians._power", lambda base, exponent: float("inf"))
    assert main(["show", "gradients", *QUICK, "--json", "-o", str(tmp_path / "g.json")]) == 0
    for text in (capsys.readouterr().out, (tmp_path / "g.json").read_text(encoding="utf-8")):
        lines = json.loads(text, parse_constant=pytest.fail)["panels"][0]["lines"]
        assert {value for line in lines if line["name"] == "vanilla, bound" for _, value in line["points"]} == {None}


def test_a_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    small = ["show", "positions", "--kind", "rotary", "--length", "3", "--width", "2", "-o"]
    for name in ("p.PNG", "p.Svg", "p.JSON"):
        assert main([*small, str(tmp_path / name)]) == 0
    assert is_drawn(tmp_path / "p.PNG")
    assert "<svg" in (tmp_path / "p.Svg").read_text(encoding="utf-8")
    assert list(numbers(tmp_path / "p.JSON")) == ["rotary"]


@pytest.mark.parametrize("option", ["--keep", "--input-scale", "--gain", "--clip", "--gains"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400"])
def test_what_is_no_finite_number_is_refused(capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    assert main(["show", "gradients", *QUICK, f"{option}={value}"]) == 2
    assert option in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    "extreme",
    ["--keep=-100", *(pytest.param(option, marks=pytest.mark.long) for option in ("--input-scale=1000", "--keep=100"))],
)
def test_the_extremes_can_be_drawn(tmp_path: Path, extreme: str) -> None:
    assert main(["show", "gradients", *QUICK, extreme, "-o", str(tmp_path / "g.png")]) == 0
    assert is_drawn(tmp_path / "g.png")


def test_implied(models: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["show", "implied", models["gru"], "--text", TEXT, "--target", TARGET]
    assert main(command) == 0
    message = capsys.readouterr().out
    assert [title in message for title in ("implied by the GRU, forward", "learnt by the decoder")] == [True, True]
    for name in ("i.png", "i.json"):
        assert main([*command, "-o", str(tmp_path / name)]) == 0
    assert is_drawn(tmp_path / "i.png")
    plain = numbers(tmp_path / "i.json")["matrices"]
    assert [sum(row) for matrix in plain for row in matrix["weights"]] == pytest.approx([1.0] * 21)
    assert main([*command, "--layer", "2", "-o", str(tmp_path / "2.json")]) == 0
    assert numbers(tmp_path / "2.json")["matrices"][0]["weights"] != plain[0]["weights"]
    assert main([*command[:-1], "Ana lê.", "--tokens", "-o", str(tmp_path / "3.json")]) == 0
    assert numbers(tmp_path / "3.json")["matrices"][2]["rows"] == ["Ana", "lê", ".", "</s>"]


@pytest.mark.parametrize("kind", ["lstm", "transformer"])
def test_loss(models: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    command = ["show", "loss", models[kind], "--text", TEXT, "--target", TARGET]
    assert main(command) == 0
    message = capsys.readouterr().out.splitlines()
    assert message[0].startswith("token")
    assert [line.split()[0] for line in message[1:-1]] == ["Ana", "lê", "um", "livro", "verde", ".", "</s>"]
    assert "over 7 tokens" in message[-1]
    for name in ("l.png", "l.json"):
        assert main([*command, "--others", "2", "-o", str(tmp_path / name)]) == 0
    assert is_drawn(tmp_path / "l.png")
    report = numbers(tmp_path / "l.json")
    assert sum(token["loss"] for token in report["tokens"]) == pytest.approx(report["loss"])
    assert {len(token["others"]) for token in report["tokens"]} == {2}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gradients", "--cells", "gru,gur"], "--cells names 'gur', expected some of vanilla, lstm, gru"),
        (["gradients", "--gains", "1,,2"], "--gains is '1,,2', expected at most six numbers from 0.05 to 10"),
        (["gradients", "--gains", "1e9"], "expected at most six numbers from 0.05 to 10"),
        (["gradients", "--gains", "1,2,3,4,5,6,7"], "expected at most six numbers"),
        (["gradients", "--text", TEXT], "--text needs one --model"),
        (["gradients", "--model", "lstm", "--text", TEXT, "--input-scale", "2"], "--input-scale is for random weights"),
        (["gradients", "--model", "transformer", "--text", TEXT], "has no recurrent layers"),
        (["positions"], "Positions are drawn as a picture; name a file, as in -o positions.png, or give --json"),
        (["positions", "--width", "5", "-o", "p.png"], "--width is 5, but coordinates come in pairs"),
        (
            ["gates", "vanilla", "--text", TEXT],
            "have no gates; `regard show gates` needs recurrent layers of cell lstm or gru",
        ),
        (["gates", "lstm", "--text", TEXT, "--layer", "3"], "has 2 recurrent layers; there is no layer 3"),
        (
            ["gates", "transformer", "--text", TEXT],
            "has no recurrent layers; `regard show gates` needs recurrent layers",
        ),
        (["implied", "lstm", "--text", TEXT], "cells of this model are lstm; `regard show implied` needs"),
        (["loss", "lstm", "--text", " ", "--target", TARGET], "There is no text to read"),
        (
            ["loss", "lstm", "--text", TEXT, "--target", TARGET, "-o", "l.html"],
            "l.html does not end in .png, .svg or .json",
        ),
    ],
)
def test_refusals(models: dict[str, str], capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    assert main(["show", *(models.get(word, word) for word in words)]) == 2
    assert sentence in capsys.readouterr().err


def test_what_lies_there_is_replaced_only_when_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "p.json"
    out.write_text("mine")
    command = ["show", "positions", "--kind", "rotary", "--length", "3", "--width", "2", "-o", str(out)]
    assert main(command) == 2
    assert "exists already; give --overwrite to replace it" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert main([*command, "--overwrite"]) == 0
    assert list(numbers(out)) == ["rotary"]
