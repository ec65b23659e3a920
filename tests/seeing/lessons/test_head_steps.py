"""One head step by step: by hand on three words, and inside models by formulas written out once more."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from untrained import toy_folder, untrained

import regard
from regard.base.faults import Fault
from regard.seeing.lessons.head_steps import example_steps, trained_steps
from regard.viewing.head_steps import HeadSteps

TEXT = "Ana reads a green book."


def values(steps: HeadSteps, name: str) -> np.ndarray:
    (stage,) = [stage for stage in steps.stages if stage.name == name]
    return stage.values


def names(steps: HeadSteps) -> list[str]:
    return [stage.name for stage in steps.stages]


def test_the_example_is_what_one_works_out_by_hand() -> None:
    steps = example_steps()
    assert values(steps, "sum").tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 2]]
    assert values(steps, "queries").tolist() == [[2, 0, 0, 0], [2, 2, 0, 0], [0, 4, 2, 0]]
    assert values(steps, "products").tolist() == [[2, 0, 0], [2, 2, 0], [0, 4, 2]]
    assert values(steps, "scaled").tolist() == [[1, 0, 0], [1, 1, 0], [0, 2, 1]]
    infinity = -math.inf
    assert values(steps, "mask").tolist() == [[0, infinity, infinity], [0, 0, infinity], [0, 0, 0]]
    total = 1 + math.e**2 + math.e
    np.testing.assert_allclose(
        values(steps, "weights"), [[1, 0, 0], [0.5, 0.5, 0], [1 / total, math.e**2 / total, math.e / total]]
    )
    np.testing.assert_allclose(values(steps, "context")[1], [1, 2, 0, 0])
    np.testing.assert_allclose(values(steps, "projected")[1], [1, 0.5, 0, 0])
    np.testing.assert_allclose(values(steps, "residual")[1], [1, 1.5, 0, 1])


def test_the_query_chooses_whose_values_are_weighted() -> None:
    steps = example_steps(2)
    assert steps.query == "love"
    np.testing.assert_allclose(values(steps, "weighted"), [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
    assert {stage.query for stage in steps.stages} == {1, None}
    with pytest.raises(Fault, match="There are 3 queries; there is no query 4"):
        example_steps(4)


@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("side", ["encoder", "decoder", "cross"])
def test_every_stage_of_a_translator_follows_from_the_one_before(side: str, norm: str, tmp_path: Path) -> None:
    model = untrained(tmp_path / "m", "transformer", norm=norm, encoder_layers=2, decoder_layers=2)
    model.task.double()
    steps = trained_steps(model, TEXT, "Ana lê um livro verde.", side=side, layer=1, head=2)
    block = model.task.model.encoder[0] if side == "encoder" else model.task.model.decoder[0]
    heads = block.cross if side == "cross" else block.self_look
    read = values(steps, "norm") if norm == "before" else values(steps, "states" if side == "cross" else "sum")
    looked_at = values(steps, "memory") if side == "cross" else read
    weight, bias = (tensor.detach().numpy() for tensor in (heads.to_query.weight, heads.to_query.bias))
    np.testing.assert_allclose(values(steps, "queries"), read @ weight[4:].T + bias[4:], atol=1e-12)
    key_value, shift = (tensor.detach().numpy() for tensor in (heads.to_key_value.weight, heads.to_key_value.bias))
    np.testing.assert_allclose(values(steps, "keys"), looked_at @ key_value[4:8].T + shift[4:8], atol=1e-12)
    np.testing.assert_allclose(values(steps, "values"), looked_at @ key_value[12:].T + shift[12:], atol=1e-12)
    products = values(steps, "queries") @ values(steps, "keys").T
    np.testing.assert_allclose(values(steps, "products"), products, atol=1e-12)
    exponents = np.exp(products / 2 + values(steps, "mask"))
    weights = exponents / exponents.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(values(steps, "weights"), weights, atol=1e-12)
    np.testing.assert_allclose(values(steps, "context"), weights @ values(steps, "values"), atol=1e-12)
    np.testing.assert_allclose(values(steps, "weighted").sum(axis=0), values(steps, "context")[-1], atol=1e-12)
    out = heads.out.weight.detach().numpy()
    np.testing.assert_allclose(values(steps, "own_output"), values(steps, "context") @ out[:, 4:].T, atol=1e-12)
    before = values(steps, "states" if side == "cross" else "sum")
    np.testing.assert_allclose(values(steps, "residual"), before + values(steps, "output"), atol=1e-12)
    assert ("norm_after" in names(steps)) == (norm == "after")
    if side == "decoder":
        assert np.isinf(values(steps, "mask")[0, 1:]).all()


def test_a_gpt_looks_back_and_a_bert_both_ways(tmp_path: Path) -> None:
    gpt, bert = (regard.load(toy_folder(tmp_path / name)) for name in ("gpt", "bert"))
    steps = trained_steps(gpt, "ana reads", layer=2)
    assert names(steps)[:2] == ["states", "norm"]
    assert np.isinf(values(steps, "mask")[0, 1:]).all()
    steps = trained_steps(bert, "ana reads")
    assert names(steps)[:4] == ["embeddings", "positions", "segments", "normalised_sum"]
    assert not values(steps, "mask").any()
    np.testing.assert_allclose(values(steps, "weights").sum(axis=1), 1, rtol=1e-5)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    model = untrained(tmp_path / "m", "transformer")
    for wish, words in {
        ("layer", 2): "This model has 1 block there; there is no block 2",
        ("head", 3): "This attention has 2 heads; there is no head 3",
        ("query", 99): "there is no query 99",
        ("side", "pooling"): "has no pooling attention; it can show --side encoder or --side",
    }.items():
        with pytest.raises(Fault, match=words):
            trained_steps(model, TEXT, "Ana", **dict([wish]))
    with pytest.raises(Fault, match="There is no text to read"):
        trained_steps(model, " ")
    gru = untrained(tmp_path / "gru")
    with pytest.raises(Fault, match=r"follows Transformer translators, GPTs and BERTs .*; this model is a seq2seq"):
        trained_steps(gru, TEXT)
    assert torch.is_grad_enabled()
