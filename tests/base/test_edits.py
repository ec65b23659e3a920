"""Records of edits: what is refused, what is said, and that a saved record is read back as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.base.edits import Edit, Edits
from regard.base.faults import Fault

REFUSED = {
    "no such deed": ({"do": "explode"}, "do is 'explode', expected one of"),
    "no such field": ({"do": "zero", "keyz": [1]}, "has no 'keyz'; did you mean 'keys'"),
    "no place": ({"do": "zero", "at": "", "keys": [1]}, "at is ''"),
    "weights without keys": ({"do": "zero"}, "needs keys; to switch a head off"),
    "a negative place": ({"do": "zero", "keys": [-1]}, "whole numbers, counted from 0"),
    "a place twice": ({"do": "zero", "keys": [1, 1]}, "named twice"),
    "a truth value": ({"do": "zero", "keys": [True]}, "whole numbers"),
    "no places at all": ({"do": "zero", "keys": []}, "at least 1"),
    "a text as places": ({"do": "zero", "keys": "12"}, "keys"),
    "units of weights": ({"do": "zero", "keys": [1], "units": [2]}, "weights have none"),
    "keys of an output": ({"do": "zero", "part": "output", "keys": [1]}, "belong to weights"),
    "force of an output": ({"do": "force", "part": "output"}, "has no meaning for part 'output'"),
    "move to nowhere": ({"do": "move", "keys": [1]}, "needs the key that gets the weight"),
    "move to itself": ({"do": "move", "keys": [1, 2], "to": 2}, "also one of the keys"),
    "move too much": ({"do": "move", "keys": [1], "to": 2, "by": 1.5}, "above 0 and up to 1"),
    "to without move": ({"do": "zero", "keys": [1], "to": 2}, "takes no to"),
    "scale without a factor": ({"do": "scale", "keys": [1]}, "needs a factor"),
    "scale below zero": ({"do": "scale", "keys": [1], "by": -1.0}, "cannot be negative"),
    "by without scale": ({"do": "zero", "keys": [1], "by": 2.0}, "takes no by"),
    "an infinite factor": ({"do": "scale", "keys": [1], "by": float("inf")}, "finite"),
    "replace without values": ({"do": "replace", "keys": [1]}, "needs values"),
    "values of zero": ({"do": "zero", "keys": [1], "values": [1.0]}, "takes no values"),
    "values that are not numbers": ({"do": "replace", "keys": [1], "values": ["x"]}, "not a finite number"),
    "values not a number": ({"do": "replace", "keys": [1], "values": [float("nan")]}, "not a finite number"),
    "values too large to be one": ({"do": "replace", "keys": [1], "values": [10**400]}, "not a finite number"),
    "no values": ({"do": "replace", "keys": [1], "values": []}, "give 1 to"),
    "a ragged table": ({"do": "replace", "keys": [1, 2], "values": [[1.0, 2.0], [1.0]]}, "different lengths"),
    "too deep": ({"do": "replace", "keys": [1], "values": [[[[[1.0]]]]]}, "nested 5 deep"),
    "a negative weight": ({"do": "replace", "keys": [1, 2], "values": [1.0, -1.0]}, "cannot be negative"),
    "force with too few values": ({"do": "force", "keys": [1, 2], "values": [1.0]}, "one value for each"),
    "force of nothing": ({"do": "force", "keys": [1, 2], "values": [0.0, 0.0]}, "leaves no weight"),
}


@pytest.mark.parametrize(("fields", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_meaning_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Fault, match=sentence) as caught:
        Edit(**{"at": "cross.1"} | fields)
    assert len(caught.value.sentences) == 1


def test_each_edit_says_what_it_does() -> None:
    said = {
        Edit(at="cross.3.2", part="head", do="zero"): "cross.3.2: the head's output is zero.",
        Edit(at="cross.3", do="zero", keys=5, queries=[3]): "cross.3: no weight on key 5 from query 3.",
        Edit(at="3.2", do="force", keys=[5, 6]): "3.2: all weight on keys 5, 6 from every query.",
        Edit(
            at="3.2", do="move", keys=[5], to=1, by=0.5
        ): "3.2: 50% of the weight on key 5 moved to key 1 from every query.",
        Edit(at="encoder.0", part="output", do="scale", by=2.0, units=[1], rows=[0]): (
            "encoder.0: the output, unit 1, is multiplied by 2 in row 0."
        ),
        Edit(at="a", part="output", do="replace", values=[1.0], queries=list(range(10))): (
            "a: the output is replaced by given numbers at places 0, 1, 2, 3, 4, 5, 6, 7 and 2 more."
        ),
    }
    assert {edit.describe() for edit in said} == set(said.values())


def test_a_saved_record_is_read_back(tmp_path: Path) -> None:
    values = torch.randn(2, 3)
    edits = Edits(
        model="a" * 64,
        edits=[Edit(at="cross.1", do="zero", keys=[1]), Edit(at="out", part="output", do="replace", values=values)],
    )
    edits.save(tmp_path / "edits.json")
    again = Edits.load(tmp_path / "edits.json")
    assert again == edits
    assert torch.equal(torch.tensor(again.edits[1].values), values)
    assert again.describe() == edits.describe()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([], "does not hold a record"),
        ({}, "needs 'edits'"),
        (
            {"edits": [{"at": "cross.1", "do": "zero", "keys": [1]}, {"at": "cross.1", "do": "zero"}]},
            "edit 2: the edit: do",
        ),
        ({"edits": [3]}, "edit 1 is not a table"),
        ({"edits": {}}, "a list of at most"),
        ({"edits": [], "format": 2}, "format is 2, expected 1$"),
        ({"edits": [{"at": "cross.2", "do": "zero"}], "format": 9}, "format is 9, expected 1$"),
        ({"edits": []}, "holds no edits"),
        ({"edits": [], "model": "short"}, "model is 'short'"),
        ({"edits": [], "further": 1}, "has no 'further'"),
        ({"edits": [{"at": "cross.1", "do": "zero", "keys": [1]}] * 1001}, "at most 1,000"),
    ],
)
def test_records_are_read_strictly(tmp_path: Path, table: Any, sentence: str) -> None:
    path = tmp_path / "edits.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(Fault, match=rf"^{path}.*{sentence}"):
        Edits.load(path)


def test_a_file_that_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edits.json"
    path.write_text('{"edits": [NaN]}', encoding="utf-8")
    with pytest.raises(Fault, match="not JSON"):
        Edits.load(path)
    with pytest.raises(Fault, match="There is no"):
        Edits.load(tmp_path / "missing.json")
