"""A translator that writes trees only, from the command line: even one that has hardly learnt."""

import json
import random
from pathlib import Path

import pytest
from small import undrawn

from regard.cli import main
from regard.data.trees.linear import read_line
from regard.data.trees.tree import NoTree

NOUNS, VERBS = ("cat", "dog", "house", "tree"), ("sleeps", "runs", "stands")


def tree(dice: random.Random) -> str:
    def phrase() -> str:
        return f"(NP (DT the) (NN {dice.choice(NOUNS)}))"

    more = f" (PP (IN near) {phrase()})" * dice.randint(0, 2)
    return f"( (S {phrase()} (VP (VBZ {dice.choice(VERBS)}){more}) (. .)))"


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, dice = tmp_path_factory.mktemp("parser"), random.Random(1)
    for name, count in (("train", 200), ("valid", 20), ("test", 20)):
        (folder / f"{name}.trees").write_text("\n".join(tree(dice) for _ in range(count)) + "\n")
    sets = [
        *(f"data.{name}={{pairs='{folder / name}.trees',form='trees'}}" for name in ("train", "valid", "test")),
        "data.cleaning.duplicates=false",
        *("data.tokeniser.kind=spaces", "data.tokeniser.sampling=0"),
        *("model.embedding=16", "model.width=16", "model.encoder_layers=1"),
        *("training.steps=2", "training.batch_tokens=256", "training.best_by=loss", "training.validate_every=2"),
    ]
    changes = [part for each in sets for part in ("--set", each)]
    with undrawn():
        assert main(["train", "parsing-treebank", "--out", str(folder / "run"), *changes]) == 0
    return folder / "run"


def test_all_outputs_are_trees(parser: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(parser), "--metric", "well-formed", "--json"]) == 0
    (score,) = json.loads(capsys.readouterr().out)["scores"]
    assert score["value"] == 100.0


@pytest.mark.parametrize("options", [[], ["--beam", "1"], ["--sample"]])
def test_every_search_writes_trees(parser: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(parser), "the cat sleeps .", *options]) == 0
    assert len(list(read_line(capsys.readouterr().out).leaves())) == 4


def test_any_text_may_be_asked_for(parser: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(parser), "the cat sleeps .", "--set", "form=text"]) == 0
    with pytest.raises(NoTree):
        read_line(capsys.readouterr().out)


def test_an_engine_that_knows_no_forms_says_so(parser: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(parser), "--engine", "onnx", "the cat sleeps ."]) == 2
    assert "cannot do 'form'" in capsys.readouterr().err
