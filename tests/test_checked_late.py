"""The tests check the shapes that the code says it takes and gives."""

import pytest
import torch
from checked_late import check_when_called
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor

from regard.attention.masks import Lengths


def test_a_tensor_of_another_shape_is_found_out() -> None:
    Lengths(torch.tensor([1, 2]))
    with pytest.raises(TypeCheckError, match="The problem arose whilst typechecking parameter 'lengths'"):
        Lengths(torch.tensor([[1, 2]]))


@pytest.mark.usefixtures("unchecked_shapes")
def test_where_checks_are_off_it_is_not() -> None:
    Lengths(torch.tensor([[1, 2]]))


def test_so_is_one_inside_another_type() -> None:
    @jaxtyped(typechecker=check_when_called)
    def count(rows: list[Float[Tensor, "depth"]] | None) -> int:
        return len(rows or ())

    assert count([torch.zeros(2), torch.zeros(2)]) == 2
    with pytest.raises(TypeCheckError, match="The problem arose whilst typechecking parameter 'rows'"):
        count([torch.zeros(2, 3)])
