"""One side of a model: its blocks and heads, selected and combined."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.seen import Block, Seen, axes_of

ROWS, COLUMNS = ["Eu", "vejo"], ["I", "see"]
STRAIGHT = [[1.0, 0.0], [0.0, 1.0]]
CROSSED = [[0.0, 1.0], [0.5, 0.5]]


def seen(*blocks: list) -> Seen:
    parts = [Block(f"decoder.{number}.cross.look", np.array(heads)) for number, heads in enumerate(blocks)]
    return Seen("cross", "Eu vejo", ROWS, COLUMNS, parts)


def test_the_heads_are_joined_by_mean_or_maximum() -> None:
    both = seen([STRAIGHT, CROSSED])
    assert both.one().weights.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert both.one(heads="mean").title == "cross, mean of 2 heads"
    assert both.one(heads="max").weights.tolist() == [[1.0, 1.0], [0.5, 1.0]]
    assert both.one(heads="max").title == "cross, maximum of 2 heads"


def test_one_head_is_shown_as_it_is() -> None:
    matrix = seen([STRAIGHT], [STRAIGHT, CROSSED]).one(layer=2, head=2)
    assert matrix.title == "cross, block 2, head 2"
    assert (matrix.rows, matrix.columns, matrix.weights.tolist()) == (ROWS, COLUMNS, CROSSED)


@pytest.mark.parametrize(("blocks", "usual"), [(1, 1), (2, 1), (6, 5)])
def test_the_last_block_but_one_is_the_usual_one(blocks: int, usual: int) -> None:
    one = seen(*[[STRAIGHT]] * blocks)
    assert one.usual == usual
    assert one.one().title == ("cross" if blocks == 1 else f"cross, block {usual}")


def test_every_head_of_blocks_that_differ() -> None:
    uneven = seen([STRAIGHT], [STRAIGHT, CROSSED, STRAIGHT])
    assert uneven.heads == [1, 3]
    titles = ["block 1, head 1", "block 2, head 1", "block 2, head 2", "block 2, head 3"]
    assert [matrix.title for matrix in uneven.every()] == titles


def test_a_single_attention_needs_no_numbers() -> None:
    assert [matrix.title for matrix in seen([STRAIGHT]).every()] == ["cross"]
    assert seen([STRAIGHT]).one().title == "cross"


@pytest.mark.parametrize(
    ("blocks", "layer", "head", "words"),
    [
        ([[STRAIGHT]], 2, None, "1 block of 1 head on"),
        ([[STRAIGHT, CROSSED]] * 3, 4, None, "3 blocks of 2 heads on"),
        ([[STRAIGHT, CROSSED]] * 3, 3, 3, "3 blocks of 2 heads on"),
        ([[STRAIGHT], [STRAIGHT, CROSSED]], 1, 2, "2 blocks of 1, 2 heads on"),
    ],
)
def test_what_is_not_there_is_refused(blocks: list, layer: int, head: int | None, words: str) -> None:
    with pytest.raises(Fault, match=f"This model has {words} that side"):
        seen(*blocks).one(layer, head)


def test_a_side_without_blocks_is_no_side() -> None:
    with pytest.raises(ValueError, match="nothing was seen on the side 'cross'"):
        seen()


@pytest.mark.parametrize(
    ("side", "axes"),
    [
        ("cross", ("written", "read")),
        ("decoder", ("written", "written")),
        ("target to turns", ("written", "read")),
        ("text to text", ("read", "read")),
        ("states", ("read", "read")),
    ],
)
def test_rows_that_a_model_writes_are_said_to_be_written(side: str, axes: tuple[str, str]) -> None:
    assert axes_of(side) == axes
