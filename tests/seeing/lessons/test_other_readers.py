"""The lessons on a GPT and a BERT: what they read, and what differs from a translator."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.loading import Loaded
from regard.seeing.lessons.embedding import embedding_lesson
from regard.seeing.lessons.feed_forward import Chosen, feed_forward_lesson
from regard.seeing.lessons.permutation import permutation_lesson
from regard.seeing.lessons.positions import learnt_lesson, learnt_positions
from regard.viewing.tables import NumberTable, WordTable

sys.path.insert(0, str(Path(__file__).parents[2]))
from toys import open_toy


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A GPT and a BERT, untrained."""
    loaded = {}
    for family in ("gpt", "bert"):
        run = open_toy(family, tmp_path_factory.mktemp(family))
        loaded[family] = Loaded(run.task, run.recipe)
    return loaded


def words_of_toy(model: Any) -> list[str]:
    """Three different words that are one token each."""
    tokeniser = model.task.tokeniser
    results = []
    for token in range(tokeniser.size):
        (piece,) = tokeniser.pieces([token])
        if piece.isalpha() and tokeniser.encode(piece) == [token]:
            results.append(piece)
    return results[:3]


@pytest.mark.parametrize(("family", "sees_order"), [("gpt", True), ("bert", False)])
def test_a_causal_mask_is_an_order_and_no_mask_is_none(models: dict[str, Any], family: str, sees_order: bool) -> None:
    one, two, three = words_of_toy(models[family])
    (table,) = permutation_lesson(models[family], f"{one} {two} {three}", f"{three} {one} {two}").tables
    assert isinstance(table, WordTable)
    assert [row[0] for row in table.rows] == [three, one, two]
    assert any(row[3] != "0" for row in table.rows) == sees_order
    assert all(float(row[4]) > 0 for row in table.rows)
    assert ("even without positions" in table.caption) == sees_order


@pytest.mark.parametrize("family", ["gpt", "bert"])
def test_every_lesson_reads_it(models: dict[str, Any], family: str) -> None:
    model = models[family]
    text = " ".join(words_of_toy(model))
    table, activations = feed_forward_lesson(model, [text], 1, Chosen(count=2)).tables
    assert isinstance(table, WordTable)
    assert table.title.startswith("block 1, 2 of ")
    assert isinstance(activations, NumberTable)
    marks = {"gpt": 1, "bert": 2}[family]  # an end before the text, or a mark on either side
    assert len(activations.rows) == 3 + marks
    vectors, _ = embedding_lesson(model, text).tables
    assert isinstance(vectors, NumberTable)
    assert len(vectors.rows) == 3
    assert "√" not in vectors.caption  # only translators scale their embeddings


def test_a_new_berts_positions_are_sinusoids(models: dict[str, Any]) -> None:
    learnt, sinusoids, _ = learnt_lesson(models["bert"], 16).tables
    assert isinstance(learnt, NumberTable)
    assert isinstance(sinusoids, NumberTable)
    np.testing.assert_allclose(learnt.values, sinusoids.values, atol=1e-6)
    assert list(learnt_positions(models["gpt"])) == ["places"]


def test_a_recurrent_language_model_has_a_bias_and_its_own_output_matrix(tmp_path: Path) -> None:
    run = open_toy("rnnlm", tmp_path, tied=False)
    model = Loaded(run.task, run.recipe)
    _, sizes = embedding_lesson(model, words_of_toy(model)[0]).tables
    assert isinstance(sizes, WordTable)
    names = [row[0] for row in sizes.rows]
    assert {"output matrix W", "bias b", "logits x · Wᵀ + b"} <= set(names)
