"""The searches through `regard translate`."""

import json
from pathlib import Path

import pytest

from regard.cli import main
from regard.verbs.translate.model import TranslationModel, load_translation_model

LINES = ["I love books.", "", "Ana sees the red house. The boys read."]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "in.en"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def wish(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "constraints.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def translated(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["translate", *arguments]) == 0
    return capsys.readouterr().out.split("\n")[:-1]


def test_samples_are_drawn_as_the_seed_says(trained: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (str(trained), str(text), "--sample", "--temperature", "1.5", "--n-best", "2")
    first, again, other = (translated(capsys, *arguments, "--seed", seed) for seed in ("3", "3", "4"))
    assert len(first) == 6
    assert first == again
    assert first != other
    assert first[2:4] == ["", ""]
    cold = translated(capsys, str(trained), str(text), "--sample", "--top-k", "1")
    assert cold == translated(capsys, str(trained), str(text), "--beam", "1")
    assert translated(capsys, str(trained), str(text), "--sample", "--top-p", "0.0001") == cold


def test_candidates_can_be_counted_by_any_name(trained: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(translated(capsys, str(trained), str(text), "--set", "n_best=2")) == 6
    assert len(translated(capsys, str(trained), str(text), "--sample", "--set", "sampling.samples=2")) == 6
    tiny = translated(capsys, str(trained), str(text), "--sample", "--top-p", "1e-30")
    assert tiny == translated(capsys, str(trained), str(text), "--beam", "1")


def test_errors_can_be_what_is_risked(trained: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(translated(capsys, str(trained), str(text), "--mbr", "wer", "--samples", "3")) == 3


def test_samples_do_not_depend_on_what_was_translated_together(
    trained: Path, text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (str(trained), str(text), "--sample", "--temperature", "1.5")
    together = translated(capsys, *arguments)
    monkeypatch.setattr("regard.verbs.translate.line_translator.PORTION", 1)
    assert translated(capsys, *arguments) == together


def test_wishes_line_by_line(trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = translated(capsys, str(trained), str(text), "--prefixes", wish(tmp_path, "Nós", "", "A casa"))
    assert outputs[0].startswith("Nós")
    assert outputs[2].startswith("A casa")
    have = translated(capsys, str(trained), str(text), "--required", wish(tmp_path, "casa\tlivros", "", ""))
    assert "casa" in have[0]
    assert "livros" in have[0]
    restricted = translated(capsys, str(trained), str(text), "--vocabulary", wish(tmp_path, "Ana lê."))
    assert set("".join(restricted)) <= set("Ana lê.")
    without = translated(capsys, str(trained), str(text), "--forbid", "A", "--forbid", "a")
    assert not {"A", "a"} & {word for line in without for word in line.replace(".", " ").split()}


def test_a_model_of_other_tokens_is_named(
    trained: Path, text: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TranslationModel, "has_tokens_of", lambda self, other: False)
    assert main(["translate", str(trained), str(text), "--with", f"{trained}/."]) == 2
    assert f"{trained} and {trained} have different tokens; combine" in capsys.readouterr().err


def test_several_models_and_least_risk(
    trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = translated(capsys, str(trained), str(text))
    assert translated(capsys, str(trained), str(text), "--with", str(trained)) == plain
    samples = translated(capsys, str(trained), str(text), "--sample", "--n-best", "4", "--seed", "2")
    chosen = translated(capsys, str(trained), str(text), "--mbr", "chrf", "--samples", "4", "--seed", "2")
    assert chosen[0] in samples[:4]
    assert chosen[1] == ""
    assert chosen[2] in samples[8:]


def test_a_channel_model_reranks(trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from small import turn_around

    back = turn_around(trained, tmp_path / "back")
    best = translated(capsys, str(trained), str(text), "--n-best", "4")
    ranked = translated(capsys, str(trained), str(text), "--n-best", "4", "--channel", str(back))
    assert sorted(ranked[:4]) == sorted(best[:4])
    ignored = translated(
        capsys, str(trained), str(text), "--n-best", "4", "--channel", str(back), "--channel-weight", "0",
        "--set", "length_penalty_kind=average", "--length-penalty", "1",
    )  # fmt: skip
    by_mean = translated(
        capsys, str(trained), str(text), "--n-best", "4", "--set", "length_penalty_kind=average",
        "--length-penalty", "1",
    )  # fmt: skip
    assert ignored == by_mean


def test_given_outputs_are_scored_and_not_searched(
    trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = ["Eu amo livros.", "", "Ana vê a casa vermelha."]
    wishes = wish(tmp_path, *outputs)
    forced = [json.loads(line) for line in translated(capsys, str(trained), str(text), "--force", wishes, "--json")]
    scores = translated(capsys, str(trained), str(text), "--force", wishes)
    model = load_translation_model(trained, device="cpu")
    expected = model.force(LINES, [model.task.target.encode(output) for output in outputs]).tolist()
    assert [row["text"] for row in forced] == outputs
    assert [row["score"] for row in forced] == pytest.approx(expected, rel=1e-5)
    assert [sum(row["token_scores"]) for row in forced] == pytest.approx(expected, rel=1e-5)
    assert [float(score) for score in scores] == pytest.approx(expected, abs=1e-4)


def test_sentences_of_a_line_are_translated_alone(
    trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apart = tmp_path / "apart.en"
    apart.write_text("Ana sees the red house.\nThe boys read.\n", encoding="utf-8")
    one, other = (json.loads(line) for line in translated(capsys, str(trained), str(apart), "--json"))
    both = json.loads(translated(capsys, str(trained), str(text), "--split-sentences", "--json")[2])
    assert both["text"] == f"{one['text']} {other['text']}"
    assert both["score"] == pytest.approx(one["score"] + other["score"], rel=1e-4)
    words = 5, len([word for word in one["text"].split(" ") if word])
    shifted = [[source + words[0], target + words[1]] for source, target in other["alignment"]]
    assert both["alignment"] == one["alignment"] + shifted


def test_long_lines_are_split_or_refused(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = tmp_path / "long.en"
    long.write_text("short\n" + "the red house " * 700 + "\n", encoding="utf-8")
    assert main(["translate", str(trained), str(long), "--beam", "1"]) == 2
    assert "Line 2: " in capsys.readouterr().err
    short = ["--set", "longest_extra=1", "--set", "longest_ratio=0.02"]
    lines = translated(capsys, str(trained), str(long), "--beam", "1", "--too-long", "split", *short)
    assert len(lines) == 2


def test_of_lines_longer_than_any_that_was_learnt_from_one_is_told(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They have 256 tokens, and more than that fit the model."""
    long = tmp_path / "long.en"
    long.write_text("short\n" + "the red house " * 80 + "\n", encoding="utf-8")
    arguments = ["translate", str(trained), str(long), "--beam", "1", "--set", "longest_extra=1"]
    sentence = "1 line is longer than any in the training data (257 tokens), such as line 2;"
    assert main([*arguments, "--set", "longest_ratio=0.02"]) == 0
    assert sentence in capsys.readouterr().err
    assert main([*arguments, "--set", "longest_ratio=0.02", "--too-long", "split"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--temperature", "0.5", "--seed", "3"], "--temperature and --seed have no effect without --sample."),
        (["--samples", "8"], "--samples is the number that --mbr chooses among"),
        (
            ["--sample", "--beam", "4"],
            "--beam is for beam search, but --sample and --mbr sample; give one or the other",
        ),
        (["--sample", "--set", "stop=first"], "--set stop is for beam search, but --sample and --mbr sample"),
        (["--sample", "--length-penalty", "0"], "give one or the other"),
        (["--channel", "nowhere", "--set", "beam=wide"], "beam"),
        (["--channel", "nowhere", "--n-best", "5"], "A beam of 4 cannot give the 5 best"),
        (["--channel-weight", "2"], "--channel-weight has no effect without --channel."),
        (["--set", "sampling.top_k=3"], "Sampling options have no effect without --sample."),
        (["--sample", "--set", "sampling=3"], "Sampling has several options"),
        (["--sample", "--temperature", "inf"], "temperature"),
        (["--sample", "--top-k", "99999999999999999999"], "--top-k is"),
        (["--set", "coverage_penalty=inf"], "coverage_penalty"),
        (["--set", "longest_ratio=inf"], "longest_ratio"),
        (["--set", "n_best=3", "--set", "beam=2"], "cannot give the 3 best"),
        (["--mbr", ""], "There is no metric ''"),
        (["--mbr", "chrf", "--samples", "4", "--n-best", "10"], "--mbr cannot give the 10 best of 4"),
        (["--force", "WISHES", "--length-penalty", "0"], "--force scores given outputs"),
        (["-o", "out.gz"], "would be plain text under the name of a compressed file"),
        (["--prefixes", "WISHES", "-o", "WISHES", "--overwrite"], "is an input too"),
        (["--prefixes", "FIRST"], "Line 1: its prefix has"),
        (["--sample", "--channel", "x"], "--channel reranks the outputs of a beam"),
        (["--mbr", "blue"], "There is no metric 'blue'"),
        (["--set", "gruops=2"], "did you mean 'groups'"),
        (["--sample", "--top-p", "0"], "--top-p is 0.0, expected more than 0.0"),
        (["--sample", "--top-p", "1.5"], "--top-p is 1.5, expected 1.0 or less"),
        (["--sample", "--set", "sampling.min_p=5"], "--set sampling.min_p is 5, expected 1.0 or less"),
        (["--forbid", ""], "--forbid: it is blank; give some text"),
        (["--with", "nowhere"], "There is no model folder at nowhere"),
        (["--required", "WISHES", "--sample"], "Sampling cannot guarantee phrases that must occur"),
        (
            ["--prefixes", "WISHES", "--split-sentences"],
            "--prefixes belongs to a whole output; omit --split",
        ),
        (["--prefixes", "SHORT"], "has 1 lines, but the input has more"),
        (["--prefixes", "LONG"], "has more lines than the input, which has 3"),
        (["--force", "WISHES", "--beam", "2"], "--force scores given outputs"),
        (["--force", "SHORT"], "has 1 lines, but the input has more"),
        (["--prefixes", "nowhere.txt"], "There is no file"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: list[str], message: str, trained: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "FIRST": ("a b c d e f g h " * 9, "", ""),
        "WISHES": ("casa", "", ""),
        "SHORT": ("a",),
        "LONG": ("a", "b", "c", "d"),
    }
    command = [wish(tmp_path, *files[word]) if word in files else word for word in arguments]
    assert main(["translate", str(trained), str(text), *command]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert "Traceback" not in errors
