"""Glimpses: windows computed by hand, the edge of a picture, and several paths."""

import torch

from regard.attention.glimpses import centre_pixels, take_glimpses, window_sides


def numbered(height: int, width: int) -> torch.Tensor:
    """Return a picture whose pixels are numbered from 1, row by row."""
    return torch.arange(1.0, height * width + 1).view(1, height, width)


def at(*places: tuple[float, float]) -> torch.Tensor:
    return torch.tensor([places], dtype=torch.float32)


def test_the_middle_of_a_picture_is_the_four_pixels_around_it() -> None:
    glimpse = take_glimpses(numbered(4, 4), at((0, 0)), patch=2, scales=1)
    assert glimpse.tolist() == [[[[[6.0, 7.0], [10.0, 11.0]]]]]


def test_each_scale_is_twice_as_wide_and_half_as_sharp() -> None:
    glimpse = take_glimpses(numbered(4, 4), at((0, 0)), patch=2, scales=2)
    assert glimpse[0, 0, 0].tolist() == [[6.0, 7.0], [10.0, 11.0]]
    assert glimpse[0, 0, 1].tolist() == [[3.5, 5.5], [11.5, 13.5]]  # (1 + 2 + 5 + 6) / 4, …
    assert window_sides(2, 2) == [2, 4]


def test_the_first_of_a_place_is_across_and_the_second_down() -> None:
    picture = numbered(2, 6)
    glimpse = take_glimpses(picture, at((2 / 3, 0)), patch=2, scales=1)  # 5 of 6 pixels across
    assert glimpse[0, 0, 0].tolist() == [[5.0, 6.0], [11.0, 12.0]]
    assert centre_pixels(at((2 / 3, 0)), picture.shape).tolist() == [[[5, 1]]]


def test_outside_the_picture_all_is_zero() -> None:
    corners = take_glimpses(numbered(4, 4), at((-1, -1), (1, -1), (-1, 1), (1, 1)), patch=2, scales=1)[0, :, 0]
    assert corners.tolist() == [[[0, 0], [0, 1]], [[0, 0], [4, 0]], [[0, 13], [0, 0]], [[16, 0], [0, 0]]]


def test_a_window_wider_than_the_picture_averages_with_the_zeros_around_it() -> None:
    glimpse = take_glimpses(torch.ones(1, 2, 2), at((0, 0)), patch=2, scales=3)
    assert glimpse[0, 0].tolist() == [[[1, 1], [1, 1]], [[0.25, 0.25], [0.25, 0.25]], [[0.0625] * 2] * 2]


def test_every_path_of_every_picture_is_that_of_the_picture_alone() -> None:
    torch.manual_seed(3)
    pictures, places = torch.rand(3, 9, 7), torch.rand(3, 5, 2) * 2 - 1
    together = take_glimpses(pictures, places, patch=4, scales=2)
    for row in range(3):
        for path in range(5):
            alone = take_glimpses(pictures[row : row + 1], places[row : row + 1, path : path + 1], patch=4, scales=2)
            assert torch.equal(alone[0, 0], together[row, path])
