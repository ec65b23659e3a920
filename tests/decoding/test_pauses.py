"""Between two steps, a caller can abandon any search or run another with the same model."""

from collections.abc import Callable

import pytest
import torch
from tables import fixed, random_table

from regard.base.pauses import between_steps, has_pauses, pausing
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.sampling import sample

SENTENCES = torch.arange(3)
TABLE = random_table(1, 3, 7)
Seek = Callable[..., list[list[Hypothesis]]]


class Enough(Exception):
    """Exception that ends a search."""


@pytest.mark.parametrize("seek", [beam_search, sample])
def test_a_pause_comes_before_each_step_and_may_end_the_search(seek: Seek) -> None:
    pauses: list[bool] = []

    def pause(is_free: bool) -> None:
        pauses.append(is_free)
        if len(pauses) == 3:
            raise Enough

    never_ends = fixed(0.0, 0.0, 1.0)
    with pytest.raises(Enough), pausing(pause):
        seek(never_ends, torch.zeros(1, dtype=torch.long), torch.tensor([9]), DecodingOptions(beam=1))
    assert pauses == [True] * 3


@pytest.mark.parametrize("seek", [beam_search, sample])
def test_a_search_inside_the_pauses_of_another_changes_neither(seek: Seek) -> None:
    def found() -> list[list[Hypothesis]]:
        return seek(TABLE, SENTENCES, torch.tensor([5, 6, 7]), DecodingOptions(beam=3, n_best=2))

    expected, inside = found(), []

    def pause(is_free: bool) -> None:
        if not inside:
            inside.append(None)  # so that the inner search is not interrupted in turn
            inside[0] = found()

    with pausing(pause):
        assert found() == expected
    assert inside == [expected]


def test_without_a_pause_nothing_happens() -> None:
    assert not has_pauses()
    between_steps()
    with pausing(lambda is_free: None):
        assert has_pauses()
    assert not has_pauses()
