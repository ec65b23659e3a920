"""The tables of tasks and families, the recipes derived from them, and refusals of what a model cannot do."""

from pathlib import Path
from typing import Any

import pytest
from toys import TOYS

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.progress import ignore_remark, silent
from regard.families import FAMILIES, check_recipe, recipe_class
from regard.families.abilities import ADDRESS, COMMAND, METHOD, needs, verbs_of
from regard.promises.capabilities import OWN_VERBS, verbs_by_capabilities
from regard.promises.capabilities import VERBS as VERB_TABLE
from regard.runs.open import open_run
from regard.tasks import TASKS

PAIRS = {"data": {"train": ["a.en", "a.pt"]}}
FAMILY_TASKS = [(name, task) for name, family in FAMILIES.items() for task in family.tasks]
# Families x verbs, as `regard families` prints it.
VERBS = {
    "transformer": "train evaluate translate embed look heads info compare average serve",
    "seq2seq": "train evaluate translate embed look heads info compare average serve",
    "online": "train evaluate translate embed look heads info compare average serve",
    "ctc-text": "train evaluate translate embed look heads info compare average serve",
    "transducer-text": "train evaluate translate embed look heads info compare average serve",
    "hred": "train evaluate translate embed look heads info compare average serve",
    "gat": "train evaluate answer look heads info compare average serve",
    "ram": "train evaluate answer look info compare average serve",
    "convnet": "train evaluate answer info compare average serve",
    "online-sounds": "train evaluate transcribe look info compare average serve",
    "painter": "train evaluate draw look info compare average serve",
    "patches": "train evaluate answer look heads info compare average serve",
    "captioner": "train evaluate caption look info compare average serve",
    "caption-transformer": "train evaluate caption look info compare average serve",
    "draw": "train evaluate draw look info compare average serve",
    "ctc": "train evaluate transcribe look info compare average serve",
    "transducer": "train evaluate transcribe look info compare average serve",
    "recurrent": "train evaluate answer info compare average serve",
    "decoder": "train evaluate answer look heads info compare average serve",
    "ntm": "train evaluate answer look info compare average serve",
    "dnc": "train evaluate answer look info compare average serve",
    "sam": "train evaluate answer look info compare average serve",
    "lstm": "train evaluate answer info compare average serve",
    "memory": "train evaluate answer look info compare average serve",
    "dmn": "train evaluate answer look info compare average serve",
    "bag": "train evaluate answer info compare average serve",
    "averaging": "train evaluate answer embed info compare average serve",
    "rnn": "train evaluate answer embed look heads info compare average serve",
    "encoder": "train evaluate answer embed look heads info compare average serve",
    "bert": "train evaluate answer embed look heads info compare average serve",
    "rnnlm": "train evaluate generate info compare average serve",
    "gpt": "train evaluate generate embed look heads info compare average serve",
    "from-gates": "train evaluate generate embed look heads info compare average serve",
    "tacotron": "train evaluate speak look info compare average serve",
    "sketchformer": "train evaluate draw look info compare average serve",
    "sketch-rnn": "train evaluate draw info compare average serve",
    "ngram": "train evaluate generate info compare serve",
    "bilm": "train evaluate embed info compare average serve",
    "word2vec": "train evaluate embed neighbours analogy info compare serve",
    "glove": "train evaluate embed neighbours analogy info compare serve",
    "fasttext": "train evaluate embed neighbours analogy info compare serve",
}


def table_of_families() -> str:
    """Return the table of families and verbs in Markdown."""
    columns = [*VERB_TABLE, "serve"]
    can = {name: verbs_of(name, family.tasks[0]) for name, family in FAMILIES.items()}
    columns = [verb for verb in columns if any(verb in verbs for verbs in can.values())]
    lines = [["family", "task", *columns], ["---"] * (len(columns) + 2)]
    for name, family in FAMILIES.items():
        lines.append([f"`{name}`", family.tasks[0], *("×" if verb in can[name] else "" for verb in columns)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def test_the_map_shows_the_families_and_their_verbs() -> None:
    assert table_of_families() in (Path(__file__).parents[1] / "docs" / "map.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_its_verbs(family: str) -> None:
    assert verbs_of(family, FAMILIES[family].tasks[0]) == VERBS[family].split()


@pytest.mark.parametrize(("family", "task"), FAMILY_TASKS)
def test_what_the_tables_say_of_verbs_follows_from_capabilities(family: str, task: str) -> None:
    assert {*verbs_of(family, task)} == verbs_by_capabilities(family, task)


@pytest.mark.parametrize(("family", "task"), FAMILY_TASKS)
def test_every_place_in_the_tables_is_there(family: str, task: str) -> None:
    way = FAMILIES[family].way(task)
    task_class = find_place(way.task)
    assert {"train", "evaluate", TASKS[task].verb} <= {*verbs_of(family, task)}
    assert task_class.MEASURES
    assert issubclass(recipe_class(family, task), find_place(way.recipe))


def test_every_kind_has_a_verb_of_its_own() -> None:
    """Tasks of other verbs return vectors too."""
    assert {kind.verb for kind in TASKS.values()} <= OWN_VERBS | {"embed"}


def test_a_recipe_without_a_task_means_the_first_of_its_family() -> None:
    assert check_recipe(PAIRS).task == "translation"
    with pytest.raises(Fault, match="task is 'nodes', but a transformer can be trained for 'translation'"):
        check_recipe(PAIRS | {"task": "nodes"})


# Replacements for a verb that a model lacks: the verb of its kind, or another look inside.
INSTEAD = {"neighbours": ("embed",), "analogy": ("embed",), "heads": ("look",)}
WAYS = {COMMAND: "`regard {}`", METHOD: "`model.{}`", ADDRESS: "/v1/{}"}


@pytest.mark.parametrize(("family", "task"), FAMILY_TASKS)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_model_cannot_do_is_refused_with_the_verb_to_use(family: str, task: str, way: str) -> None:
    verbs, default = verbs_of(family, task), TASKS[task].verb
    recipe: Any = recipe_class(family, task).model_construct(family=family, task=task)
    for verb in verbs:
        needs(recipe, verb, way)
    others = [verb for verb in VERB_TABLE if verb not in verbs]
    assert others
    for verb in others:
        instead = [other for other in INSTEAD.get(verb, ()) if other in verbs] or [default]
        what = f"; use {WAYS[way].format(instead[0])}. It can"
        if verb == "average" or (verb in ("look", "heads") and instead == [default]):
            what = "; it can"  # no name is close to it
        with pytest.raises(Fault) as fault:
            needs(recipe, verb, way)
        assert str(fault.value).endswith(f" gives {TASKS[task].gives}{what} {', '.join(verbs)}.")


@pytest.mark.parametrize("name", ["gpt", "bert", "bilm"])
def test_a_model_of_running_text_is_not_begun_without_validation_text(name: str, tmp_path: Path) -> None:
    table = TOYS[name].table(tmp_path) | {"family": name}
    del table["data"]["valid"]
    with pytest.raises(
        Fault, match=r"no validation text; name files as data.valid, or hold lines .* data.hold_out=0.05"
    ):
        open_run(check_recipe(table), tmp_path / "run", False, silent, ignore_remark)
    assert not (tmp_path / "run").exists()
    table["data"]["hold_out"] = 0.25
    open_run(check_recipe(table), tmp_path / "run", False, silent, ignore_remark)
