"""Order and attention: permuted outputs without positions, by hand and in networks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from untrained import untrained

from regard.base.faults import Fault
from regard.seeing.lessons.permutation import (
    FIRST,
    SECOND,
    attend,
    order_between,
    permutation_example,
    permutation_lesson,
    relative_differences,
)
from regard.viewing.tables import NumberTable, WordTable


def numbers(table: object) -> np.ndarray:
    assert isinstance(table, NumberTable)
    return table.values


def changes(table: object) -> tuple[list[str], list[str]]:
    """The changes without and with positions, as they are shown."""
    assert isinstance(table, WordTable)
    return [row[3] for row in table.rows], [row[4] for row in table.rows]


def test_attention_by_hand() -> None:
    # Scores of (1, 0) and (0, 1), divided by √2: (0.7071, 0) and (0, 0.7071); e^0.7071 = 2.0281.
    share = 2.028114981647472 / 3.028114981647472
    np.testing.assert_allclose(attend(np.eye(2)), [[share, 1 - share], [1 - share, share]], rtol=1e-12)
    assert relative_differences(np.array([[3.0, 4.0]]), np.array([[3.0, 5.0]])).tolist() == [0.2]


def test_the_order_of_words_and_of_equal_words() -> None:
    assert order_between(["a", "b", "a"], ["b", "a", "a"]) == [1, 0, 2]
    for second, message in ((["a", "b"], "do not have the same words"), (["a", "b", "a"], "in the same order")):
        with pytest.raises(Fault, match=message):
            order_between(["a", "b", "a"], second)


def test_lecture_c_the_outputs_of_both_phrases_are_permuted_and_nothing_else() -> None:
    vectors, first, second, placed_first, placed_second, comparison = permutation_example(FIRST, SECOND, 1).tables
    order = [3, 0, 1, 2, 4]  # не очень хорошо совсем плохо
    np.testing.assert_allclose(numbers(second), numbers(first)[order], rtol=1e-12)
    np.testing.assert_allclose(numbers(first), attend(numbers(vectors)), rtol=1e-12)
    assert np.abs(numbers(placed_second) - numbers(placed_first)[order]).max() > 0.1
    without, placed = changes(comparison)
    assert without == ["0"] * 5
    assert all(float(share) > 0.1 for share in placed)
    assert isinstance(comparison, WordTable)
    assert list(comparison.rows[0][:3]) == ["не", "4", "1"]
    other = permutation_example(FIRST, SECOND, 2).tables[0]
    assert (numbers(other) != numbers(vectors)).any()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi"])
def test_an_encoder_without_its_positions_sees_no_order(tmp_path: Path, positions: str) -> None:
    model = untrained(tmp_path / "m", "transformer", positions=positions)
    before = model.task.model.encode(*_read(model))
    (table,) = permutation_lesson(model, "Ana reads a book", "a book reads Ana").tables
    without, placed = changes(table)
    assert without == ["0"] * 4
    assert all(float(share) > 0 for share in placed)
    assert (model.task.model.encode(*_read(model)) == before).all()  # the model itself keeps its positions


def _read(model: Any) -> tuple[Any, Any]:
    batch = model.task.read(["Ana reads"])
    return batch.source, batch.source_lengths


def test_a_recurrent_encoder_sees_order_without_positions(tmp_path: Path) -> None:
    model = untrained(tmp_path / "m", "transformer", encoder="recurrent")
    (table,) = permutation_lesson(model, "Ana reads a book", "a book reads Ana").tables
    assert "0" not in changes(table)[0]
    assert isinstance(table, WordTable)
    assert "change even without positions" in table.caption


def test_other_models_and_long_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="none of transformer, gpt and bert"):
        permutation_lesson(untrained(tmp_path / "r"), "Ana reads", "reads Ana")
    words = ["Ana", *["reads"] * 30]
    with pytest.raises(Fault, match="32 tokens, but the model reads 20 at most"):
        permutation_lesson(untrained(tmp_path / "t", "transformer"), " ".join(words), " ".join(words[::-1]))
