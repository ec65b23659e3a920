"""Generated pictures of shapes match their captions."""

import numpy as np

from regard.data.generated.shapes import COLOURS, SIZES, Shape, captions_of, draw_shapes, picture_of, shapes_of

RED = Shape("circle", "red", "large", 0.25, 0.5)
ORANGE = Shape("square", "orange", "small", 0.75, 0.6)


def test_two_shapes_are_said_to_lie_as_they_do() -> None:
    assert captions_of([RED, ORANGE]) == [
        "a red circle above an orange square",
        "an orange square below a red circle",
        "a large red circle above a small orange square",
        "a small orange square below a large red circle",
    ]


def test_one_shape_is_said_to_be_where_it_is() -> None:
    assert captions_of([RED]) == [
        "a red circle at the top",
        "at the top a red circle",
        "a large red circle at the top",
        "at the top a large red circle",
    ]


def test_a_shape_is_drawn_in_its_colour_where_it_lies() -> None:
    pixels = draw_shapes([RED, ORANGE], 40, ground=240)
    assert pixels.shape == (40, 40, 3)
    assert tuple(pixels[10, 20]) == COLOURS["red"]
    assert tuple(pixels[30, 24]) == COLOURS["orange"]
    assert pixels[2, 2].tolist() == [240, 240, 240]


def test_a_picture_is_a_function_of_its_key() -> None:
    pixels, captions = picture_of([1, 2], 24)
    again, same = picture_of([1, 2], 24)
    assert np.array_equal(pixels, again)
    assert captions == same
    assert picture_of([1, 3], 24)[1] != captions


def test_shapes_lie_inside_the_picture_and_never_over_each_other() -> None:
    counts = set()
    for number in range(300):
        shapes = shapes_of([5, number])
        counts.add(len(shapes))
        for shape in shapes:
            reach = SIZES[shape.size]
            assert all(reach <= place <= 1 - reach for place in (shape.row, shape.column))
        if len(shapes) == 2:
            one, other = shapes
            apart = max(abs(one.row - other.row), abs(one.column - other.column))
            assert apart > SIZES[one.size] + SIZES[other.size]
            assert (one.kind, one.colour) != (other.kind, other.colour)
    assert counts == {1, 2}
