"""Views inside a model: the logit lens, states from another input, heads and units switched off."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
from why_models import toy_model

from regard.attention.editing import Edit, editing
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.why.interventions import ablate_heads, ablate_units, patch_from
from regard.seeing.why.lens import logit_lens
from regard.seeing.why.question import ask

LAYERS = {"encoder_layers": 2, "decoder_layers": 2}
TEXT, OTHER = "I see the house", "I see this woman"


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return toy_model("transformer", tmp_path_factory.mktemp("toy"), **LAYERS)


@pytest.fixture(scope="module")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return toy_model("gpt", tmp_path_factory.mktemp("toy"), layers=2)


@pytest.mark.parametrize("family", ["translator", "gpt"])
def test_the_last_row_of_the_lens_is_the_model_itself(family: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(family)
    question = ask(model, TEXT)
    lens = logit_lens(model, question)
    with torch.no_grad():
        whole = float(question.log_probability(question.inputs[None]).exp())
    assert [row.layer for row in lens.rows] == ["embedding", "block 1", "block 2"]
    assert lens.rows[-1].probability == pytest.approx(whole)
    assert lens.rows[0].probability != pytest.approx(whole)
    for row in lens.rows:
        assert row.tokens[0][1] >= row.probability
        assert (row.rank == 1) == (row.tokens[0][1] == pytest.approx(row.probability))
        assert len(row.along) == len(lens.places)


def test_the_lens_reads_a_bert(tmp_path: Path) -> None:
    model = toy_model("bert", tmp_path)
    question = ask(model, "o [MASK] .")
    with torch.no_grad():
        whole = float(question.log_probability(question.inputs[None]).exp())
    assert logit_lens(model, question).rows[-1].probability == pytest.approx(whole)


def test_the_lens_needs_a_transformer(tmp_path: Path) -> None:
    model = toy_model("seq2seq", tmp_path)
    with pytest.raises(Fault, match="this model is a seq2seq"):
        logit_lens(model, ask(model, TEXT))


def test_patching_everything_is_the_other_run(translator: Loaded) -> None:
    """In the last column every place has the other input's state; of the embedding, a place alone may do less."""
    grid = patch_from(translator, ask(translator, TEXT), OTHER)
    assert list(grid.rows) == ["embedding", "block 1", "block 2"]
    np.testing.assert_allclose(grid.values[:, -1], 1.0, atol=1e-9)
    np.testing.assert_allclose(grid.values[0, :2], 0.0, atol=1e-9)  # these words are the same in both
    assert np.abs(grid.values[1, :2]).max() > 1e-6  # but not what they have seen


def test_patching_the_last_place_of_a_gpt_decides_alone(gpt: Loaded) -> None:
    grid = patch_from(gpt, ask(gpt, TEXT), OTHER)
    np.testing.assert_allclose(grid.values[2, -2], 1.0, atol=1e-9)
    np.testing.assert_allclose(grid.values[2, :-2], 0.0, atol=1e-9)


def test_patching_refuses_inputs_that_do_not_correspond(translator: Loaded, tmp_path: Path) -> None:
    question = ask(translator, TEXT)
    with pytest.raises(Fault, match="have 5 and 3 units"):
        patch_from(translator, question, "I see")
    with pytest.raises(Fault, match="nothing can move"):
        patch_from(translator, question, TEXT)
    recurrent = toy_model("seq2seq", tmp_path)
    with pytest.raises(Fault, match="needs blocks of a Transformer"):
        patch_from(recurrent, ask(recurrent, TEXT), OTHER)


def test_a_head_loses_what_it_loses_alone(translator: Loaded) -> None:
    """Several heads share a pass, each in a row of its own; one by one they give the same numbers."""
    question = ask(translator, TEXT)
    grids = {grid.title: grid for grid in ablate_heads(translator, question)}
    assert {name: grid.values.shape for name, grid in grids.items()} == dict.fromkeys(
        ("encoder", "decoder", "cross"), (2, 2)
    )
    with torch.no_grad():
        whole = float(question.log_probability(question.inputs[None]))
        with editing(translator, Edit(at="cross.2.1", part="head", do="zero")):
            without = float(question.log_probability(question.inputs[None]))
    assert grids["cross"].values[1, 0] == pytest.approx(whole - without, abs=1e-12)
    assert abs(whole - without) > 1e-9


def test_a_unit_loses_what_its_weights_give(translator: Loaded) -> None:
    """Zero in the row of W₂ that reads a unit is the unit switched off."""
    question = ask(translator, TEXT)
    grid = ablate_units(translator, question)
    assert grid.values.shape == (4, 24)
    outer = translator.task.model.decoder[1].feed_forward.outer.weight
    block, unit = list(grid.rows).index("decoder.1"), int(np.abs(grid.values[-1]).argmax())
    with torch.no_grad():
        whole = float(question.log_probability(question.inputs[None]))
        column = outer[:, unit].clone()
        outer[:, unit] = 0
        without = float(question.log_probability(question.inputs[None]))
        outer[:, unit] = column
    assert grid.values[block, unit] == pytest.approx(whole - without, abs=1e-12)


def test_models_without_heads_or_units_are_refused(tmp_path: Path) -> None:
    model = toy_model("rnnlm", tmp_path)
    question = ask(model, TEXT)
    with pytest.raises(Fault, match="no attention with heads"):
        ablate_heads(model, question)
    with pytest.raises(Fault, match="no feed-forward nets"):
        ablate_units(model, question)
