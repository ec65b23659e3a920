"""The tests check the shapes that functions declare for their arguments and results."""

import pytest
import torch
from checked_late import check, decorate_late
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from regard.attention.heads import MultiHead
from regard.attention.masks import Lengths, real_places


def test_a_tensor_of_another_shape_is_found_out() -> None:
    Lengths(torch.tensor([1, 2]))
    with pytest.raises(TypeCheckError, match="The problem arose whilst typechecking parameter 'lengths'"):
        Lengths(torch.tensor([[1, 2]]))


def test_so_it_is_by_a_function_and_in_what_it_gives() -> None:
    with pytest.raises(TypeCheckError, match="The problem arose whilst typechecking parameter 'lengths'"):
        real_places(torch.tensor([[1, 2]]), 3)

    @decorate_late(typechecker=check)
    def doubled(row: Float[Tensor, " place"]) -> Float[Tensor, " place"]:
        return torch.cat([row, row])

    with pytest.raises(TypeCheckError, match="Type-check error whilst checking the return value"):
        doubled(torch.zeros(2))


def test_what_names_no_shape_is_as_it_was_written() -> None:
    assert not hasattr(MultiHead.__init__, "__wrapped__")
    assert hasattr(MultiHead.forward, "__wrapped__")


@pytest.mark.usefixtures("unchecked_shapes")
def test_where_checks_are_off_it_is_not() -> None:
    Lengths(torch.tensor([[1, 2]]))


def test_so_is_one_inside_another_type() -> None:
    @decorate_late(typechecker=check)
    def count(rows: list[Float[Tensor, "depth"]] | None) -> int:
        return len(rows or ())

    assert count([torch.zeros(2), torch.zeros(2)]) == 2
    with pytest.raises(TypeCheckError, match="The problem arose whilst typechecking parameter 'rows'"):
        count([torch.zeros(2, 3)])
