"""Sparse tables: products and gradients as for dense ones, and dropout that leaves zeros alone."""

import pytest
import torch

from regard.models.sparse import SparseTable


@pytest.fixture
def dense() -> torch.Tensor:
    return torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 5.0]], dtype=torch.double)


@pytest.fixture
def table(dense: torch.Tensor) -> SparseTable:
    return SparseTable.of(dense[dense != 0], dense.nonzero()[:, 1], torch.tensor([0, 1, 1, 3, 4]), width=dense.shape[1])


def test_a_product_and_its_gradient_are_those_of_the_dense_table(table: SparseTable, dense: torch.Tensor) -> None:
    matrix = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    pull = torch.randn(4, 2, dtype=torch.double)
    torch.testing.assert_close(table.times(matrix), dense @ matrix)
    torch.testing.assert_close(
        torch.autograd.grad(table.times(matrix), matrix, pull), torch.autograd.grad(dense @ matrix, matrix, pull)
    )
    assert table.shape == (4, 3)


def test_copies_have_rows_and_columns_of_their_own(table: SparseTable, dense: torch.Tensor) -> None:
    matrix = torch.randn(9, 2, dtype=torch.double, requires_grad=True)
    pull = torch.randn(12, 2, dtype=torch.double)
    product, by_hand = table.repeat(3).times(matrix), torch.block_diag(dense, dense, dense) @ matrix
    torch.testing.assert_close(product, by_hand)
    torch.testing.assert_close(torch.autograd.grad(product, matrix, pull), torch.autograd.grad(by_hand, matrix, pull))


def test_dropout_loses_values_and_raises_the_others(table: SparseTable) -> None:
    torch.manual_seed(3)
    many = table.repeat(1000)
    values = many.drop(0.75).values
    assert {0.0, 1.0} >= set((values / many.values / 4).tolist())  # kept values are four times as large
    assert 0.2 < float((values != 0).double().mean()) < 0.3
