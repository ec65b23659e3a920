"""`regard heads`: the heads of a model ranked by their attention, in a table, as JSON and in training."""

import json
from pathlib import Path

import pytest
from small import train_arguments, write_corpus
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from regard.cli import main

HEADS = 2 * (1 + 2 + 2)  # one encoder block, two decoder blocks that look twice, two heads each


def heads_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert main(["heads", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_head_is_ranked_by_its_sharpness(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heads = heads_of(capsys, str(trained), "--most", "8")
    shares = [head["entropy_share"] for head in heads["heads"]]
    assert (heads["pairs"], len(shares)) == (8, HEADS)
    assert shares == sorted(shares)
    assert all(0 <= share <= 1.0001 for share in shares)
    assert {head["alignment_error"] for head in heads["heads"]} == {None}
    named = {(head["side"], head["block"], head["head"]) for head in heads["heads"]}  # as `regard look` takes them
    blocks = {"encoder": 1, "decoder": 2, "cross": 2}
    assert named == {(side, n + 1, head) for side, count in blocks.items() for n in range(count) for head in (1, 2)}
    assert {head["block"] for head in heads["heads"] if head["where"] == "decoder.1.cross.look"} == {2}
    straight = heads_of(capsys, str(trained), "--most", "8", "--by", "diagonal")["heads"]
    assert [head["diagonal"] for head in straight] == sorted((h["diagonal"] for h in heads["heads"]), reverse=True)


def test_heads_against_given_alignments(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target, links = tmp_path / "a.en", tmp_path / "a.pt", tmp_path / "links"
    source.write_text("I love books.\nAna sleeps.\n", encoding="utf-8")
    target.write_text("Eu amo livros.\nAna dorme.\n", encoding="utf-8")
    links.write_text("0-0 1-1 2-2\n0-0 1p1\n", encoding="utf-8")
    arguments = [str(trained), "--source", str(source), "--reference", str(target), "--alignments", str(links)]
    heads = heads_of(capsys, *arguments)
    assert heads["by"] == "alignment"
    errors = [head["alignment_error"] for head in heads["heads"] if "cross" in head["where"]]
    assert len(errors) == 4
    assert all(0 <= error <= 1 for error in errors)
    assert [head["alignment_error"] for head in heads["heads"][:4]] == sorted(errors)  # the others come last
    assert main(["heads", *arguments]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:3] == ["side", "block", "head"]
    assert "alignment error" in printed[0]
    assert printed[1].split()[0] == "cross"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--by", "alignment"], "--by alignment needs --alignments"),
        (["--source", "x"], "--source and --reference go together"),
        (["--split", "test", "--source", "x", "--reference", "y"], "not both"),
    ],
)
def test_bad_use_has_its_sentence(
    trained: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["heads", str(trained), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_alignments_of_another_length_or_form(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "one"
    one.write_text("Ana sleeps.\n", encoding="utf-8")
    links = tmp_path / "links"
    arguments = [str(trained), "--source", str(one), "--reference", str(one), "--alignments", str(links)]
    links.write_text("0-0\n0-0\n", encoding="utf-8")
    assert main(["heads", *arguments]) == 2
    assert "has 2 lines for 1 pair; each pair needs one." in capsys.readouterr().err
    links.write_text("0:0\n", encoding="utf-8")
    assert main(["heads", *arguments]) == 2
    assert "Line 1 of the alignments has '0:0', which is not a link such as 0-0 or 1p2." in capsys.readouterr().err


def test_nothing_to_watch_and_too_much(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, long, one = tmp_path / "empty", tmp_path / "long", tmp_path / "one"
    empty.write_text("", encoding="utf-8")
    long.write_text("word " * 2000 + "\n", encoding="utf-8")
    one.write_text("word\n", encoding="utf-8")
    for source, target, words in (
        (empty, empty, "empty is empty; it has no sentences."),
        (long, one, "but the model takes 1024 at most"),
        (one, long, "its translation has"),
    ):
        assert (
            main(["heads", str(trained), "--source", str(source), "--target", str(target)]) == 2
        )  # including its name
        assert words in capsys.readouterr().err


@pytest.mark.usefixtures("no_curves")
def test_logged_in_training_when_asked_for(tmp_path: Path) -> None:
    more = {"training__log_attention": "true", "training__steps": 6}
    assert main(train_arguments(*write_corpus(tmp_path, 120), tmp_path / "run", **more)) == 0
    log = EventAccumulator(str(tmp_path / "run" / "training" / "tensorboard"))
    log.Reload()
    tags = [tag for tag in log.Tags()["scalars"] if tag.startswith("attention/")]
    assert len(tags) == 2 * HEADS
    assert "attention/cross/block-2/head-2/entropy-share" in tags
    assert 0 < log.Scalars(tags[0])[0].value <= 1
