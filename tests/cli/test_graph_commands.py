"""Graph attention through the command line: train, kill and resume, evaluate, answer, info, and what is refused."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from small import undrawn
from small_graph import GROUPS, NODES, SIZE, small_recipe

import regard
from regard.cli import main


def train(folder: Path, out: str, *more: str, table: dict[str, Any] | None = None, seed: int = 1) -> Path:
    """Return the run of a small recipe with three members."""
    recipe = folder / "recipe.toml"
    recipe.write_text(tomli_w.dumps(table or small_recipe(folder / "graph", members=3, seed=seed)), encoding="utf-8")
    with undrawn():
        assert main(["train", str(recipe), "--out", str(folder / out), *more]) == 0
    return folder / out


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("graphs"), "run")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [1, 2])
def test_who_belongs_to_which_group_is_learnt(tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    folder = train(tmp_path, "run", seed=seed)
    assert capsys.readouterr().err.count(f"{NODES} nodes, ") == 1  # described once, though data and model both do
    assert main(["evaluate", str(folder), "--json"]) == 0
    scores = {score["metric"]: score for score in json.loads(capsys.readouterr().out)["scores"]}
    assert scores["accuracy"]["value"] > 0.9
    assert scores["accuracy"]["n"] == NODES // 2
    assert scores["accuracy"]["split"] == "test"
    assert scores["accuracy"]["signature"] == "mean of 3 members|range:0-1"
    assert 0 <= scores["accuracy"]["deviation"] < 0.1
    assert len(scores["accuracy"]["members"]) == 3
    assert sum(scores["accuracy"]["members"]) / 3 == pytest.approx(scores["accuracy"]["value"])
    assert main(["info", str(folder)]) == 0
    value, deviation = scores["loss"]["value"], scores["loss"]["deviation"]
    assert f"test loss {value:.4f} ± {deviation:.4f}  (mean of 3 members|" in capsys.readouterr().out


def test_nodes_are_answered_in_their_order(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["answer", str(run), "20", "3", "20"]) == 0
    assert capsys.readouterr().out == "green\nblue\ngreen\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"20\n3\n")))
    assert main(["answer", str(run)]) == 0
    assert capsys.readouterr().out == "green\nblue\n"


def test_json_has_all_probabilities(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", str(run), "20", "3", "--json"]) == 0
    green, blue = map(json.loads, capsys.readouterr().out.splitlines())
    assert (green["answer"], blue["answer"]) == ("green", "blue")
    assert list(green["probabilities"]) == list(GROUPS)
    assert green["probability"] == green["probabilities"]["green"]
    assert sum(green["probabilities"].values()) == pytest.approx(1)


def test_python_answers_the_same(run: Path) -> None:
    model = regard.load(run)
    assert [answer.answer for answer in model.answer([20, "3"])] == ["green", "blue"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["answer", "RUN", "99"], "There is no node 99; the graph has the nodes 0 to 23."),
        (["answer", "RUN", "3", "friend"], "'friend' is not the number of a node"),
        (["translate", "RUN"], "A gat gives a class for each node; use `regard answer`. It can train, evaluate,"),
        (["evaluate", "RUN", "--metric", "bleu"], "A gat is measured by loss, accuracy, not by 'bleu'."),
    ],
)
def test_what_cannot_be_asked_is_refused(
    run: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(run) if argument == "RUN" else argument for argument in arguments]) == 2
    message = capsys.readouterr()
    assert words in message.err
    assert message.out == ""


def test_a_translator_gives_no_answers(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", str(trained), "3"]) == 2
    assert "A transformer gives a text for each text; use `regard translate`. It can train" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"training": {"batch_tokens": 100}},
            "and language; a task of nodes trains on the whole graph",
        ),
        ({"decoding": {"beam": 4}}, "decoding belongs to"),
        ({"training": {"best_by": "bleu"}}, "training.best_by is 'bleu', but a validation can measure loss, accuracy"),
        ({"data": {"edges": "nowhere.tsv"}}, "There is no file nowhere.tsv"),
    ],
)
def test_recipes_that_cannot_be_trained_leave_nothing_behind(
    tmp_path: Path, changes: dict[str, dict[str, Any]], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = small_recipe(tmp_path / "graph")
    for section, options in changes.items():
        table[section] = table.get(section, {}) | options
    (tmp_path / "recipe.toml").write_text(tomli_w.dumps(table), encoding="utf-8")
    assert main(["train", str(tmp_path / "recipe.toml"), "--out", str(tmp_path / "run")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_resumed_is_never_stopped(tmp_path: Path) -> None:
    """Dropout is on and members are judged separately; the weights are equal to the last bit."""
    whole = train(tmp_path, "whole", "--set", "training.steps=20", "--set", "training.save_every=5")
    train(tmp_path, "halves", "--set", "training.steps=10", "--set", "training.save_every=5")
    halves = train(tmp_path, "halves", "--set", "training.steps=20", "--set", "training.save_every=5", "--resume")
    assert (halves / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()


def test_info_says_what_the_graph_holds(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(run), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["nodes"], facts["classes"], facts["members"]) == (2 * SIZE, 2, 3)
    assert "answer" in facts["verbs"]


def test_a_graph_that_was_changed_in_its_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = train(tmp_path, "run", "--set", "training.steps=2")
    graph = folder / "graph.safetensors"
    graph.write_bytes(graph.read_bytes()[:-8] + bytes(8))
    assert main(["answer", str(folder), "3"]) == 2
    assert "graph.safetensors" in capsys.readouterr().err


# What a node looks at


def test_a_node_is_looked_at_in_every_form(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(run), "0"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Node 0: class blue, block 1 of 2")
    assert shown.err.startswith("0 → blue (")
    for suffix in (".png", ".svg", ".html", ".json"):
        assert main(["look", str(run), "0", "-o", str(tmp_path / f"node{suffix}")]) == 0
    report = json.loads((tmp_path / "node.json").read_text(encoding="utf-8"))
    assert (report["text"], report["side"]) == ("0", "nodes to nodes")
    assert report["nodes"][0] == {"name": "0", "ring": 0, "answer": "blue", "label": "blue"}
    for block in report["blocks"]:
        assert [sum(head) for head in block["weights"]] == pytest.approx([1] * len(block["weights"]))


def test_two_rings_reach_farther(run: Path, tmp_path: Path) -> None:
    sizes = []
    for rings in ("1", "2"):
        assert main(["look", str(run), "0", "--rings", rings, "-o", str(tmp_path / f"{rings}.json")]) == 0
        sizes.append(len(json.loads((tmp_path / f"{rings}.json").read_text(encoding="utf-8"))["nodes"]))
    assert sizes[0] < sizes[1]


def test_heads_are_reported_on_a_split(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["heads", str(run), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["split"], report["by"]) == ("valid", "sharpness")
    assert {(head["block"], head["head"]) for head in report["heads"]} == {(1, 1), (1, 2), (2, 1)}
    assert all(head["looks"] == 3 * NODES and head["diagonal"] is None for head in report["heads"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["look", "RUN"], "A gat reads a node; give one to look at, not none."),
        (["look", "RUN", "1", "2"], "A gat reads a node; give one to look at, not 2."),
        (["look", "RUN", "99"], "There is no node 99"),
        (["look", "RUN", "--text", "0"], "--text is for models that read text; a gat reads a node."),
        (["look", "RUN", "0", "--target", "blue"], "--target is for translators; a gat reads a node."),
        (["look", "RUN", "0", "--side", "cross"], "from the target to the source; it has only one, so omit --side."),
        (["look", "RUN", "0", "--next"], "--next is for translators; a gat reads a node."),
        (
            ["look", "RUN", "0", "--sheet"],
            "--sheet goes with a matrix; the attention of this model is drawn as a graph.",
        ),
        (["look", "RUN", "0", "--layer", "3"], "This model has 2 blocks of 2, 1 heads on that side."),
        (["heads", "RUN", "--by", "diagonal"], "What these heads look at has no order"),
        (["heads", "RUN", "--most", "3"], "--most is for translators; the heads of a gat are measured on a --split."),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    run: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(run) if argument == "RUN" else argument for argument in arguments]) == 2
    assert words in capsys.readouterr().err
