"""Every family can be edited, or says why not: laws over all toys whose models have modules."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from toys import TOYS, open_toy

from regard.attention.editing import Edit, editing
from regard.attention.watch import Gazes, Looks, watching
from regard.base.faults import Fault
from regard.promises.learning import numbers

pytestmark = pytest.mark.one_in(4)
WITHOUT_OUTPUTS = ("memory", "bag")  # their networks call no other modules
MOST_OUTPUTS = 12  # edited modules of each toy
WITHOUT_MODULES = ("ngram", "word2vec", "glove", "fasttext")
# Gazes that cannot be edited, by the end of their path, and words of the reason.
REFUSED = {
    "decision": "shows the decisions",
    "alignment": "mix nothing",
    "occupancy": "mix nothing",
    "shares": "mix nothing",
    "moments": "mix nothing",
    "rollout": "edit a block",
    "look_back": "edit the state",
}
# Recurrent layers that never know how many steps were before, by toy and start of their path.
UNPLACED = {
    ("online", "decoder"),
    ("online-sounds", "decoder"),
    ("transducer", "predictor"),
    ("transducer one way", "predictor"),
    ("transducer-text", "predictor"),
    ("rnnlm", "stack"),
}


PAGE = Path(__file__).parents[1] / "docs" / "edit.md"
EXAMPLES: dict[str, dict[str, Any]] = {
    "weights": {"do": "zero", "keys": [0]},
    "head": {"do": "zero"},
    "state": {"do": "zero"},
    "window": {"do": "scale", "by": 2.0},
}


def table_rows() -> list[tuple[list[str], list[str], list[str]]]:
    """Return the families, parts and places of each row of the page's table that names families alone."""
    rows, families = [], list[str]()
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and "`" in cells[1]:
            families = re.findall(r"`([^`]+)`", cells[0]) if cells[0] else families
            is_plain = re.fullmatch(r"(`[\w-]+`(, )?)*", cells[0]) is not None
            if is_plain and families:
                parts, places = (re.findall(r"`([^`]+)`", cell) for cell in cells[1:3])
                rows.append((families, parts, places))
    return rows


@dataclass
class Case:
    """A toy's untrained network in float64, a batch, and its measures and gazes without edits."""

    toy: str
    task: Any
    batch: Any
    expected: dict[str, Any]
    gazes: Gazes

    @property
    def model(self) -> nn.Module:
        model: nn.Module = self.task.model
        return model

    def measure(self, *edits: Edit) -> tuple[dict[str, Any], Gazes]:
        return measured(self.task, self.batch, *edits)


def measured(task: Any, batch: Any, *edits: Edit) -> tuple[dict[str, Any], Gazes]:
    torch.manual_seed(5)  # some measures draw numbers
    with torch.no_grad(), watching(task.model) as gazes, editing(task.model, list(edits)):
        return numbers(task.measure(batch)), gazes


@pytest.fixture(params=[toy for toy in TOYS if toy not in WITHOUT_MODULES], scope="module")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder: Path = tmp_path_factory.mktemp("toy")
    task: Any = open_toy(request.param, folder).task
    task.double().eval()
    batch = next(iter(task.batches("valid", 0, 0, 0)))
    with torch.no_grad(), watching(task.model) as gazes:
        torch.manual_seed(5)
        return Case(request.param, task, batch, numbers(task.measure(batch)), gazes)


def stateful(model: nn.Module) -> dict[str, nn.Module]:
    """Return the modules whose states can be edited, by name; the model itself goes by the number of its gaze."""
    return {
        path or "1": part
        for path, part in model.named_modules()
        if isinstance(part, nn.RNNBase | nn.RNNCellBase) or "state" in getattr(part, "edits", ())
    }


def test_without_edits_it_has_the_same_bits(case: Case) -> None:
    again, gazes = case.measure()
    assert again == case.expected
    assert [gaze.where for gaze in gazes] == [gaze.where for gaze in case.gazes]
    assert all(torch.equal(one.weights, other.weights) for one, other in zip(gazes, case.gazes, strict=True))


def test_an_edit_of_weights_is_seen_and_changes_the_output_or_is_refused(case: Case) -> None:
    for gaze in {gaze.where: gaze for gaze in case.gazes if gaze.edges is None}.values():
        if gaze.where.rpartition(".")[2] in REFUSED:
            continue
        key = 1 if bool((gaze.weights[..., 0] == 1).all()) else 0
        edit = Edit(at=gaze.where, do="force", keys=[key])
        outcome, gazes = case.measure(edit)
        edited = [other for other in gazes if other.where == gaze.where]
        assert all(bool((other.weights[..., key] == 1).all()) for other in edited), gaze.where
        assert edited, gaze.where
        assert outcome != case.expected, gaze.where


def test_gazes_that_are_no_weights_say_so(case: Case) -> None:
    for path, part in case.model.named_modules():
        reason = REFUSED.get(path.rpartition(".")[2])
        if isinstance(part, Looks) and reason is not None:
            with pytest.raises(Fault, match=reason), editing(case.model, Edit(at=path, do="zero", keys=[0])):
                pass
        elif isinstance(part, Looks) and path:
            assert "weights" in getattr(part, "edits", ()), path


def test_an_edited_state_changes_the_output(case: Case) -> None:
    for path in stateful(case.model):
        for do in (Edit(at=path, part="state", do="zero"), Edit(at=path, part="state", do="scale", by=0.5, units=[2])):
            outcome, _ = case.measure(do)
            assert outcome != case.expected, do.describe()


def test_a_state_is_edited_at_its_place_or_the_place_is_refused(case: Case) -> None:
    for path in stateful(case.model):
        edit = Edit(at=path, part="state", do="replace", values=[0.3], queries=[1])
        if (case.toy, path.partition(".")[0]) in UNPLACED:
            with pytest.raises(Fault, match="nothing says how many steps were before"):
                case.measure(edit)
        else:
            assert case.measure(edit)[0] != case.expected, path


def test_states_scaled_by_one_run_written_out_and_match_the_fused_layers(case: Case) -> None:
    edits = [Edit(at=path, part="state", do="scale", by=1.0) for path in stateful(case.model)]
    outcome, _ = case.measure(*edits)
    assert outcome.keys() == case.expected.keys()
    for name, expected in case.expected.items():
        assert outcome[name] == pytest.approx(expected, rel=1e-9, abs=1e-9), name


def test_outputs_of_modules_change_or_are_refused_in_a_sentence(case: Case) -> None:
    changed, paths = 0, [path for path, part in case.model.named_modules() if path and not any(part.children())]
    for path in paths[:: 1 + len(paths) // MOST_OUTPUTS]:
        try:
            outcome, _ = case.measure(Edit(at=path, part="output", do="scale", by=-2.0))
        except Fault:  # any other error fails the test
            continue
        changed += outcome != case.expected
    assert changed or case.toy in WITHOUT_OUTPUTS, "no output could be edited"


def test_the_places_in_the_table_of_the_page_exist(case: Case) -> None:
    """Nothing runs here, so an edit that is accepted says at its end that it never applied."""
    steps = {"from-gates": "gates alone"}  # its state is there at step 0 only
    for families, parts, places in table_rows():
        for part in parts:
            toys = [steps.get(family, family) if part == "state" else family for family in families]
            if case.toy in toys:
                edits = [Edit(at=place, part=part, **EXAMPLES[part]) for place in places]  # type: ignore[arg-type]
                assert any(map(partial(accepted, case.model), edits)), (families, part, places)


def accepted(model: nn.Module, edit: Edit) -> bool:
    try:
        with editing(model, edit):
            pass
    except Fault as fault:
        return "did not run" in str(fault)
    return True


def test_the_table_of_the_page_is_read() -> None:
    rows = table_rows()
    assert len(rows) > 18
    assert (["ram"], ["window"], ["glimpses to picture.1"]) in rows
