"""Rows for every table from a plugin: scores, normalisers, metrics, views, verbs, exports and recipes."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from plugin_files import site as site
from plugin_files import write_entry_point, write_module
from small import train_arguments, write_corpus

import regard
from regard.attention import named_normaliser, named_score
from regard.base.recipe import write
from regard.cli import main
from regard.families import check_recipe, plugin_record
from regard.metrics import BETTER, score
from regard.metrics.significance import summing
from regard.metrics.utilities import utility
from regard.viewing.drawers import DRAWERS, drawing_of
from regard.viewing.looks import LooksBetween, names_along
from regard.viewing.sides import Words
from regard.viewing.view import DrawingRequest

ROWS = """
from dataclasses import dataclass
from pathlib import Path

import typer

from regard.plugins import Drawer, ExportRow, NormaliserRow, Plugin, Room, ScoreRow, TextMetric
from regard.viewing.sides import Words

def half_dot(query_depth, key_depth, hidden):
    return lambda query, key: query @ key.mT / 2

def evenly(scores, mask):
    weights = scores.new_ones(scores.shape) if mask is None else mask.expand(scores.shape).to(scores.dtype)
    return weights / weights.sum(-1, keepdim=True).clamp_min(1)

def letters_missing(hypotheses, references):
    return float(sum(abs(len(a) - len(b)) for a, b in zip(hypotheses, references[0], strict=True))), "letters|own"

@dataclass(frozen=True)
class Beads:
    names: tuple

class DrawnBeads:
    def __init__(self, looks, wanted):
        self.looks = looks
    def lines(self, width, colour):
        return [" ".join(self.looks.looks_at.names)]

def hello(name: str = typer.Argument(help="Who.")) -> None:
    "Greet someone."
    print(f"hello {name}")

def write_card(model, place, remark):
    place.write_text(f"{model.recipe.family} of {model.parameters} parameters")

def plugin():
    return Plugin(
        scores={"half-dot": ScoreRow("many:half_dot")},
        normalisers={"even": NormaliserRow("many:evenly")},
        metrics={"letters": TextMetric("many:letters_missing", "lower")},
        views={("weights", Words, Beads): Drawer("beads", (), "many:DrawnBeads")},
        verbs={"hello": Room("many:hello", "Greet someone.")},
        exports={"card": ExportRow("many:write_card")},
        recipes={"my-own": Path(__file__).parent / "my-own.toml"},
    )
"""


@pytest.fixture(params=["named", "installed"])
def many(site: Path, request: pytest.FixtureRequest) -> Path:
    """A plugin with rows for every table, by module name or installed."""
    (site / "many.py").write_text(ROWS, encoding="utf-8")
    (site / "my-own.toml").write_text("# A recipe from outside\nfamily = 'transformer'\n", encoding="utf-8")
    if request.param == "named":
        regard.register("many")
    else:
        write_entry_point(site, "many", "many:plugin", "0.4")
    return site


def test_scores_and_normalisers_are_chosen_by_recipes(many: Path) -> None:
    import torch

    pairs = {"data": {"train": ["a.en", "a.pt"]}}
    recipe = check_recipe(pairs | {"family": "seq2seq", "model": {"score": "half-dot", "normaliser": "even"}})
    assert (recipe.model.score, recipe.model.normaliser) == ("half-dot", "even")
    assert 'score = "half-dot"' in write(recipe, "")
    assert recipe.model_dump()["model"]["score"] == "half-dot"
    noted = json.loads(plugin_record(recipe))["plugins"]
    assert [(row["plugin"], row["model.score"], row["model.normaliser"]) for row in noted] == [
        ("many", "half-dot", "even")
    ]
    query = torch.ones(1, 1, 1, 4)
    assert named_score("half-dot", 4, 4, 4)(query, query).item() == 2.0
    mask = torch.tensor([[True, False, True, True]])
    torch.testing.assert_close(named_normaliser("even")(torch.zeros(1, 4), mask)[0, 0], torch.tensor(1 / 3))
    with pytest.raises(regard.Fault, match=r"model\.score is 'third-dot', expected one of 'scaled-dot', 'dot', "):
        check_recipe(pairs | {"model": {"score": "third-dot"}})


@pytest.mark.one_in(2)
def test_a_score_of_a_plugin_is_trained_and_its_folder_needs_the_plugin(many: Path, tmp_path: Path, capsys) -> None:
    more = {"model__score": "half-dot", "training__steps": 2, "training__save_every": 2, "training__validate_every": 2}
    assert main(train_arguments(*write_corpus(tmp_path, 40), tmp_path / "run", **more)) == 0
    assert main(["translate", str(tmp_path / "run"), "--text", "I see the house."]) == 0
    record = json.loads((tmp_path / "run" / "plugins.json").read_text())
    assert record["plugins"][0]["model.score"] == "half-dot"


def test_metrics_score_texts_and_files(many: Path, tmp_path: Path, capsys) -> None:
    metric_score = score(["abc", "d"], ["a", "de"], metric="letters")
    assert (metric_score.value, metric_score.signature, BETTER["letters"]) == (3.0, "letters|own", "lower")
    assert utility("letters")(["abc"], ["a"]) == [-2.0]
    assert summing("letters")(["abc", "d"], [["a", "de"]]).value() == 1.5
    for name, text in {"h": "abc\nd\n", "r": "a\nde\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = ["--hypothesis", str(tmp_path / "h"), "--reference", str(tmp_path / "r")]
    assert main(["score", *files, "--metric", "letters", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["value"] == 3.0


def test_views_draw_sides_of_their_own(many: Path) -> None:
    import many as plugin

    beads, words = plugin.Beads(("red", "green")), Words(["a"], ["a"], [0])
    looks = LooksBetween("words to beads", "a", "b", words, beads)
    assert drawing_of(looks, DrawingRequest()).lines(80, False) == ["red green"]
    assert names_along(beads, words) == ["red", "green"]
    assert ("weights", Words, plugin.Beads) in DRAWERS
    with pytest.raises(regard.Fault, match="--sheet goes with a matrix; the attention of this model is drawn as beads"):
        drawing_of(looks, DrawingRequest(sheet=True))

    @dataclass(frozen=True)
    class Unknown:
        count: int

    with pytest.raises(regard.Fault, match="There is no drawing yet for weights from words to unknown"):
        drawing_of(LooksBetween("x", "a", "b", words, Unknown(2)), DrawingRequest())


def test_verbs_are_commands(many: Path, capsys) -> None:
    assert main(["hello", "Ana"]) == 0
    assert capsys.readouterr().out == "hello Ana\n"
    assert main(["hello", "--help"]) == 0
    assert "Greet someone." in capsys.readouterr().out
    assert main(["hallo"]) == 2


def test_a_command_is_found_though_its_plugin_is_named_behind_it(site: Path, capsys) -> None:
    (site / "many.py").write_text(ROWS, encoding="utf-8")
    assert main(["hello", "--plugin", "many", "Rui"]) == 0
    assert capsys.readouterr().out == "hello Rui\n"
    assert main(["--plugin", "many", "--help"]) == 0
    assert re.search(r"^  hello +Greet someone\.$", capsys.readouterr().out, re.MULTILINE)


def test_exports_write_what_they_like(many: Path, trained: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "card.txt"
    assert main(["export", str(trained), "--to", "card", "-o", str(out)]) == 0
    assert out.read_text().startswith("transformer of ")
    assert main(["export", str(trained), "--to", "card", "-o", str(out)]) == 2
    assert main(["export", str(trained), "--to", "card"]) == 2
    assert "Name a file for the card model with -o." in capsys.readouterr().err
    assert main(["export", str(trained), "--to", "cart", "-o", str(out)]) == 2
    assert "'cart' is not one of 'ctranslate2'" in capsys.readouterr().err


def test_recipes_are_listed_and_trained_by_name(many: Path, capsys) -> None:
    assert main(["recipes"]) == 0
    assert "A recipe from outside" in capsys.readouterr().out
    assert main(["recipes", "my-own"]) == 0
    assert capsys.readouterr().out == "# A recipe from outside\nfamily = 'transformer'\n"


WRONG = {
    "exports={'card': 'many:write_card'}": (["export", "x", "--to", "card"], "the export 'card' as a str, expected an"),
    "verbs={'train': 3}": (["hello"], "the verb 'train' as an int, expected a Room"),
    "recipes={'demo': 'demo.toml'}": (["recipes"], "the recipe 'demo' as a str, expected a Path"),
}


@pytest.mark.parametrize("rows", WRONG)
def test_rows_of_the_wrong_kind_are_refused_where_their_table_is_read(site: Path, capsys, rows: str) -> None:
    write_module(site, "wrong", f"def plugin():\n    return Plugin({rows})\n")
    command, sentence = WRONG[rows]
    assert main(["--plugin", "wrong", *command]) == 2
    assert f"regard: The plugin wrong has {sentence}" in capsys.readouterr().err


def test_what_is_wrong_with_a_table_that_nobody_reads_does_no_harm(site: Path, capsys) -> None:
    write_module(site, "wrong", "def plugin():\n    return Plugin(metrics={'bleu': 3})\n")
    assert main(["--plugin", "wrong", "recipes", "demo"]) == 0
    with pytest.raises(regard.Fault, match="The plugin wrong has the metric 'bleu' as an int, expected a TextMetric"):
        score(["a"], ["a"])


def test_a_failure_inside_a_plugin_is_told_as_its_own(site: Path, capsys) -> None:
    (site / "many.py").write_text(ROWS.replace('    print(f"hello {name}")', "    return 1 / 0"), encoding="utf-8")
    assert main(["--plugin", "many", "hello", "Ana"]) == 1
    assert "regard: the plugin many failed: ZeroDivisionError: division by zero\n" in capsys.readouterr().err


def test_built_in_names_import_no_installed_plugin(site: Path, trained: Path, tmp_path: Path, capsys) -> None:
    (site / "many.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    write_entry_point(site, "many", "many:plugin")
    assert score(["a"], ["a"], metric="bleu").value >= 0
    assert main(["look", str(trained), "--text", "I see the house.", "-o", str(tmp_path / "look.json")]) == 0
    assert main(["evaluate", str(trained), "--split", "valid", "--metric", "chrf"]) == 0
    assert "many" not in sys.modules
    assert "left out" not in capsys.readouterr().err
