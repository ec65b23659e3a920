"""The whole pass: every layer by formulas written out once more, and its end by what the models answer themselves."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from toys import open_toy
from untrained import toy_folder, untrained

import regard
from regard.base.faults import Fault
from regard.families.abilities import is_followed
from regard.seeing.lessons.forward import example_pass, forward_pass
from regard.seeing.lessons.losses import sentence_loss
from regard.viewing.forward import ForwardPass, Layer, count_numbers, forward_data, opened

TEXT, TARGET = "Ana reads a green book.", "Ana lê um livro verde."


def layers(forward: ForwardPass, *kinds: str) -> list[Layer]:
    """The layers on the path of these kinds from the top."""
    layers = list(forward.layers)
    for place, kind in enumerate(kinds):
        layers = [layer for layer in layers if layer.kind == kind]
        if place + 1 < len(kinds):
            layers = [inner for layer in layers for inner in layer.inside]
    return layers


def one(forward: ForwardPass, *kinds: str) -> np.ndarray:
    (layer,) = layers(forward, *kinds)
    return layer.values


def test_every_layer_of_the_example_follows_from_those_before() -> None:
    forward = example_pass()
    assert [layer.kind for layer in forward.layers] == [
        "text_embeddings", "positions", "sum", "block", "norm", "logits",
    ]  # fmt: skip
    entering = one(forward, "text_embeddings") + one(forward, "positions")
    np.testing.assert_allclose(one(forward, "sum"), entering)
    look, net = ("block", "around_self"), ("block", "around_feed_forward")
    head = (*look, "self_attention", "head")
    scores = one(forward, *head, "queries") @ one(forward, *head, "keys").T / 2
    np.testing.assert_allclose(one(forward, *head, "scores"), scores)
    exponents = np.exp(scores + one(forward, *head, "mask"))
    weights = exponents / exponents.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(one(forward, *head, "weights"), weights)
    np.testing.assert_allclose(one(forward, *head), weights @ one(forward, *head, "values"))
    np.testing.assert_allclose(one(forward, *look), entering + one(forward, *look, "self_attention"))
    inner = one(forward, *net, "feed_forward", "inner")
    np.testing.assert_allclose(one(forward, *net, "feed_forward", "activation"), np.maximum(inner, 0))
    after = one(forward, *look) + one(forward, *net, "feed_forward")
    np.testing.assert_allclose(one(forward, "block"), after)
    embeddings = {guess.place: row for guess, row in zip(forward.guesses, one(forward, "text_embeddings"), strict=True)}
    # The output matrix is that of the embeddings.
    np.testing.assert_allclose(one(forward, "logits")[:, 3], one(forward, "norm") @ embeddings["love"])


def test_the_example_has_learnt_to_look_back() -> None:
    """The word after "love" depends on who loves."""
    (token, _, probability), *_ = example_pass().guesses[-1].tokens
    assert token == "books"
    assert probability > 0.9


def test_a_translator_ends_with_the_losses_of_its_tokens(tmp_path: Path) -> None:
    model = untrained(tmp_path / "m", "transformer", encoder_layers=2)
    forward = forward_pass(model, TEXT, TARGET)
    assert [layer.number for layer in layers(forward, "encoder_block")] == [1, 2]
    logits = torch.from_numpy(one(forward, "logits"))
    losses = [token.loss for token in sentence_loss(model, TEXT, TARGET).tokens]
    tokens = [*model.task.target_for(TEXT).encode(TARGET), model.task.end]
    found = -logits.log_softmax(-1)[torch.arange(len(tokens)), tokens]
    np.testing.assert_allclose(found, losses, rtol=1e-5)
    (cross,) = layers(forward, "decoder_block", "around_cross", "cross")
    assert [layer.kind for layer in cross.inside] == ["to_query", "head", "head", "out"]
    weights = [layer for layer in cross.inside[1].inside if layer.kind == "weights"]
    assert [layer.values.shape for layer in weights] == [(len(tokens), len(weights[0].columns))]
    assert weights[0].rows[0] == "<s>"


def test_a_gpt_ends_with_what_may_follow(tmp_path: Path) -> None:
    model = regard.load(toy_folder(tmp_path / "gpt"))
    forward = forward_pass(model, "a b")
    following = model.task.foresee(model.task.read(["a b"]))[0].exp()
    token, _, probability = forward.guesses[-1].tokens[0]
    assert probability == pytest.approx(float(following.max()), rel=1e-5)
    assert token == model.task.tokeniser.pieces([int(following.argmax())])[0]
    assert [layer.number for layer in layers(forward, "block")] == [1, 2]


def test_a_bert_ends_with_what_fills_its_mask(tmp_path: Path) -> None:
    model = regard.load(toy_folder(tmp_path / "bert"))
    text = "a [MASK]"
    forward = forward_pass(model, text)
    (answer,) = model.answer([text])
    (place,) = [guess for guess in forward.guesses if guess.place == "[MASK]"]
    assert place.tokens[0][2] == pytest.approx(answer.probability, rel=1e-5)
    assert forward.guesses[forward.query or 0] is place
    kinds = [layer.kind for layer in forward.layers]
    assert kinds[:5] == ["source_embeddings", "positions", "segments", "sum", "norm"]
    assert kinds[-3:] == ["transform", "norm", "logits"]


def test_every_layer_has_a_name_and_rows_that_fit(tmp_path: Path) -> None:
    for forward in (example_pass(), forward_pass(untrained(tmp_path / "m", "transformer"), TEXT, TARGET)):
        for _, layer in opened(forward.layers, depth=99):
            assert layer.kind != "other"
            assert len(layer.rows) == len(layer.values)
            assert not layer.columns or len(layer.columns) == layer.values.shape[1]


def test_a_place_that_is_not_there_is_refused() -> None:
    assert example_pass(2).query == 1
    with pytest.raises(Fault, match="There are 3 tokens; there is no token 4"):
        example_pass(4)


@pytest.mark.parametrize(
    "name",
    ["transformer", "transformer with a recurrent encoder", "seq2seq", "gpt", "rnnlm", "bert", "classes bert"],
)
def test_the_table_of_families_says_which_can_be_followed(name: str, tmp_path: Path) -> None:
    run = open_toy(name, tmp_path)
    model = SimpleNamespace(task=run.task, recipe=run.recipe)
    target = TARGET if run.recipe.task == "translation" else None
    if is_followed(run.recipe.family, run.recipe.task):
        assert forward_pass(model, "Ana", target).guesses
    else:
        with pytest.raises(Fault, match="Transformer translators, GPTs and BERTs that fill masks"):
            forward_pass(model, "Ana", None)


def test_a_layer_that_is_not_opened_has_no_numbers() -> None:
    forward = example_pass()
    whole = forward_data(forward)["layers"]
    block = forward_data(forward, {"3", "3.1", "5.0"})["layers"][3]
    assert [layer["place"] for layer in block["inside"]] == ["3.0", "3.1"]
    assert block["inside"][1] == whole[3]["inside"][1] | {"inside": block["inside"][1]["inside"]}
    assert (block["inside"][0]["values"], block["inside"][0]["norm"]) == (None, whole[3]["inside"][0]["norm"])
    assert forward_data(forward, ())["layers"][5]["values"] is None


def test_numbers_are_counted_as_they_are_sent() -> None:
    forward = example_pass()

    def sent(layers: list[dict[str, Any]]) -> int:
        return sum(sum(map(len, layer["values"] or [])) + sent(layer["inside"]) for layer in layers)

    for places in (None, frozenset[str](), {"3", "3.0", "4", "9.9"}):
        assert count_numbers(forward.layers, places) == sent(forward_data(forward, places)["layers"])
