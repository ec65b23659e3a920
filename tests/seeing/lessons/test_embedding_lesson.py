"""Embeddings: the example's numbers are those of the lecture, and a model's look-up is a product."""

from pathlib import Path

import numpy as np
import pytest
import torch
from untrained import untrained

from regard.base.faults import Fault
from regard.seeing.lessons.embedding import embedding_example, embedding_lesson, lookup_difference
from regard.seeing.lessons.token_matrices import TokenMatrices, token_matrices
from regard.viewing.tables import NumberTable, WordTable


def test_lecture_a_one_hot_times_w_is_its_fifth_column() -> None:
    one_hot, weights, vector, rows, scores, _ = embedding_example(10_000, 512).tables
    assert isinstance(one_hot, NumberTable)
    assert one_hot.values.tolist() == [[0, 0, 0, 0, 1, 0]]
    assert isinstance(weights, NumberTable)
    assert weights.values.shape == (5, 6)
    assert isinstance(vector, NumberTable)
    np.testing.assert_allclose(vector.values, [[0.1, -0.3, 1.4, 0.2, 0.5]], rtol=0, atol=1e-15)
    assert isinstance(rows, NumberTable)
    np.testing.assert_allclose(rows.values[:, -1], [-0.01, 2.9], atol=1e-12)
    assert isinstance(scores, NumberTable)
    assert scores.values[1].round(2).tolist() == [0.04, 0.67, 0.04, 0.15, 0.02, 0.04, 0.04]


def test_lecture_b_sizes_of_ten_thousand_words_in_512_coordinates() -> None:
    sizes = embedding_example(10_000, 512).tables[-1]
    assert isinstance(sizes, WordTable)
    numbers = {row[0]: tuple(row[1:]) for row in sizes.rows}
    assert numbers["embedding E"] == ("10,000 × 512", "5,120,000")
    assert numbers["logits x · Wᵀ + b"] == ("10,000", "10,000")
    smaller = embedding_example(7, 3).tables[-1]
    assert isinstance(smaller, WordTable)
    assert smaller.rows[1] == ["embedding E", "7 × 3", "21"]


def test_a_models_own_vectors_and_sizes(tmp_path: Path) -> None:
    model = untrained(tmp_path / "m", "transformer")
    vectors, sizes = embedding_lesson(model, "Ana reads").tables
    matrix = model.task.model.source_embedding.weight
    tokens = model.task.source.encode("Ana reads")
    assert isinstance(vectors, NumberTable)
    np.testing.assert_array_equal(vectors.values, matrix[tokens][:, :6].detach().double().numpy())
    assert vectors.rows == [f"{name} ({token})" for name, token in zip(("Ana", "reads"), tokens, strict=True)]
    assert "equal to the last digit" in vectors.caption
    assert "√8" in vectors.caption
    assert isinstance(sizes, WordTable)
    assert ["output matrix W, the same as E", f"{len(matrix)} × 8", "0 more"] in sizes.rows


def test_a_wrong_look_up_would_show(tmp_path: Path) -> None:
    matrices = token_matrices(untrained(tmp_path / "m", "transformer"))
    assert lookup_difference(matrices, [1, 2]) == 0

    class Moved(torch.Tensor):
        """A matrix whose rows are found one place further."""

        def __getitem__(self, rows: torch.Tensor) -> torch.Tensor:
            return torch.Tensor(self)[rows.tolist()[::-1]]

    moved = TokenMatrices(
        matrices.embedding.detach().double().as_subclass(Moved), matrices.output, None, 1.0,
        matrices.tokeniser, matrices.tokeniser,
    )  # fmt: skip
    assert lookup_difference(moved, [1, 2]) > 0


def test_an_empty_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="no text to read"):
        embedding_lesson(untrained(tmp_path / "m"), " ")
