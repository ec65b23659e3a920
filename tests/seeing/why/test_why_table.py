"""The table of docs/why.md: for every family, which methods have a meaning, compared with what the toys refuse."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from why_models import ASKED, toy_item, toy_model

from regard.base.faults import Fault
from regard.seeing.why.interventions import ablate_heads, ablate_units, patch_from
from regard.seeing.why.lens import logit_lens
from regard.seeing.why.maps import every_map
from regard.seeing.why.question import ASKERS, ask

PAGE = Path(__file__).parents[3] / "docs" / "why.md"
# The decision of each task, as the table begins to describe it.
DECISIONS = {
    "translation": "a token of the",
    "language": "the next token",
    "masked": "the token behind a mask",
    "classification": "the class of a text",
    "tagging": "the tag of a word",
    "glimpses": "the class of a picture",
    "captioning": "a word of the caption",
    "answering": "the answer",
    "algorithms": "an item of the answer",
    "transcription": "a label",
    "handwriting": "a label",
    "nodes": "the class of a node",
    "sequences": "the class of a sequence",
    "recognition": "the class of a drawing",
}
COLUMNS = ("attention", "rollout, flow", "gradients, occlusion", "leave one out", "lens", "patching", "heads, units")
# Toys that are one of several kinds in a row, whose cell says so in words.
KINDS: dict[str, dict[str, bool | None]] = {
    "if it pools by attention": {"averaging": False, "rnn": None},
    "ready features, patches": {"captioner": None, "hard captioner": None, "video captioner": None,
                                "caption-transformer": None},
}  # fmt: skip
# Untrained, they write nothing, and the labels of a given output have no attention.
SILENT = ("online-sounds", "handwriting")


def table() -> list[list[str]]:
    """Return the rows of the table: families, decision, units and a cell for each method."""
    lines = PAGE.read_text(encoding="utf-8").partition("| family | decision |")[2].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    assert all(len(row) == 3 + len(COLUMNS) for row in rows)
    return rows


def row_of(toy: str, family: str, task: str) -> list[str]:
    """Return the row of a toy."""
    has_blocks = "transformer" in toy and family == "ctc"
    found = [
        row
        for row in table()
        if family in re.findall(r"`([\w-]+)`", row[0])
        and row[1].startswith(DECISIONS[task])
        and ("with a Transformer" in row[0]) == has_blocks
    ]
    assert len(found) == 1, (toy, family, task, found)
    return found[0]


def is_refused(run: object) -> bool:
    try:
        run()  # type: ignore[operator]
    except Fault as fault:
        # What depends on these inputs is no statement about the family.
        return "just as probable" not in str(fault)
    return False


@pytest.mark.one_in(4)
@pytest.mark.parametrize("toy", ASKED)
def test_a_family_has_what_the_table_says(toy: str, tmp_path: Path) -> None:
    model = toy_model(toy, tmp_path)
    item = toy_item(toy, model.recipe.task, tmp_path)
    question = ask(model, item, ASKED[toy])
    _, refused = every_map(question)
    heads = not is_refused(lambda: ablate_heads(model, question))
    units = not is_refused(lambda: ablate_units(model, question))
    has: dict[str, bool] = {
        "attention": "attention" not in refused,
        "rollout, flow": "rollout" not in refused,
        "gradients, occlusion": not {"gradient", "integrated-gradients", "occlusion"} & refused.keys(),
        "leave one out": "leave-one-out" not in refused,
        "lens": not is_refused(lambda: logit_lens(model, question)),
        "patching": not is_refused(lambda: patch_from(model, question, item)),
    }
    edited = "×" if heads and units else "units" if units else "heads" if heads else ""
    row = row_of(toy, model.recipe.family, model.recipe.task)
    assert row[-1] == edited
    for name, cell in zip(COLUMNS[:-1], row[3:-1], strict=True):
        if name == "attention" and toy in SILENT:
            continue
        if cell in KINDS:
            expected = KINDS[cell].get(toy, has[name])
            assert expected is None or has[name] == expected, name
        else:
            assert cell == "×" * has[name], name


def test_every_task_that_can_be_asked_is_in_the_table() -> None:
    decisions = [row[1] for row in table()]
    for task in ASKERS:
        assert any(decision.startswith(DECISIONS[task]) for decision in decisions), task
