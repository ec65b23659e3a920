"""The tests check the shapes that the code says it takes and gives."""

import pytest
import torch
from jaxtyping import TypeCheckError

from regard.attention.masks import Lengths


def test_a_tensor_of_another_shape_is_found_out() -> None:
    Lengths(torch.tensor([1, 2]))
    with pytest.raises(TypeCheckError, match="The problem arose whilst typechecking parameter 'lengths'"):
        Lengths(torch.tensor([[1, 2]]))


@pytest.mark.usefixtures("unchecked_shapes")
def test_where_checks_are_off_it_is_not() -> None:
    Lengths(torch.tensor([[1, 2]]))
