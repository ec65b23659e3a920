"""Pictures adapted to a model's training data: size, proportions, background."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.faults import Fault
from regard.data.pictures.fitting import AsIs, Expected, background_of, fit_picture_file, fitting_remark
from regard.data.pictures.prepare import PictureLabels, PreparedPictures

DIGITS = Expected((28, 28), 0)


def saved(path: Path, pixels: np.ndarray) -> Path:
    Image.fromarray(pixels).save(path)
    return path


def bar(height: int, width: int, paper: int, ink: int) -> np.ndarray:
    """Return a picture of an upright bar, half as high as the picture and a fifth as wide."""
    pixels = np.full((height, width), paper, np.uint8)
    pixels[height // 4 : 3 * height // 4, 2 * width // 5 : 3 * width // 5] = ink
    return pixels


def test_a_photo_on_white_paper_becomes_white_on_black(tmp_path: Path) -> None:
    photo = np.stack([bar(300, 200, 210, 30), bar(300, 200, 205, 25), bar(300, 200, 190, 35)], axis=-1)
    path = saved(tmp_path / "photo.png", photo)
    fitted = fit_picture_file(path, DIGITS)
    assert fitted.pixels.shape == (28, 28)
    assert fitted.pixels.dtype == np.uint8
    assert (background_of(fitted.pixels), fitted.pixels.max()) == (0, 255)
    assert np.all(fitted.pixels[9:19, 13:15] > 200)  # the ink, in the middle
    assert fitted.changes == (
        "turned grey",
        "scaled from 300 × 200 to 28 × 19 pixels",
        "inverted, because their background is black",
        "padded to 28 × 28",
    )
    remark = fitting_remark(path, DIGITS)
    assert remark == f"{path} is adapted to the training pictures: {', '.join(fitted.changes)}."


def test_a_picture_on_their_background_is_not_inverted(tmp_path: Path) -> None:
    dark, light = saved(tmp_path / "dark.png", bar(56, 56, 0, 255)), saved(tmp_path / "light.png", bar(56, 56, 255, 0))
    for path, background in ((dark, 0), (light, 255)):
        fitted = fit_picture_file(path, Expected((28, 28), background))
        assert fitted.changes == ("scaled from 56 × 56 to 28 × 28 pixels",)
        assert background_of(fitted.pixels) == background
    white_paper = fit_picture_file(dark, Expected((28, 28), 250))
    assert (background_of(white_paper.pixels), white_paper.pixels.min()) == (255, 0)


@pytest.mark.parametrize("background", [None, 64, 128, 191])
def test_where_their_background_is_not_plain_nothing_is_inverted(background: int | None, tmp_path: Path) -> None:
    path = saved(tmp_path / "light.png", bar(56, 28, 220, 40))
    fitted = fit_picture_file(path, Expected((28, 28), background))
    assert fitted.changes == ("scaled from 56 × 28 to 28 × 14 pixels", "padded to 28 × 28")
    assert set(fitted.pixels[:, 0]) == {220}


def test_a_picture_of_their_size_is_read_as_it_is(tmp_path: Path) -> None:
    pixels = bar(28, 28, 255, 0)
    path = saved(tmp_path / "light.png", pixels)
    for picture in (path, AsIs(path)):
        fitted = fit_picture_file(picture, DIGITS)
        assert np.array_equal(fitted.pixels, pixels)
        assert not fitted.changes
    assert fitting_remark(path, DIGITS) == ""


def test_an_empty_sheet_is_not_stretched_into_noise(tmp_path: Path) -> None:
    sheet = np.full((40, 40), 230, np.uint8)
    sheet[20, 20] = 225
    assert fit_picture_file(saved(tmp_path / "sheet.png", sheet), DIGITS).pixels.max() < 40


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (2000, 3)])
def test_odd_sizes_fit(size: tuple[int, int], tmp_path: Path) -> None:
    assert fit_picture_file(saved(tmp_path / "odd.png", np.zeros(size, np.uint8)), DIGITS).pixels.shape == (28, 28)


def test_a_large_photo_is_taken_and_one_too_large_refused(tmp_path: Path) -> None:
    assert fit_picture_file(saved(tmp_path / "a.png", bar(2400, 3000, 255, 0)), DIGITS).pixels.max() == 255
    Image.new("1", (10_000, 5_001)).save(tmp_path / "b.png")
    with pytest.raises(Fault, match="a picture has at most 50,000,000 in all"):
        fit_picture_file(tmp_path / "b.png", DIGITS)
    with pytest.raises(Fault, match="a side has at most 1024"):
        fit_picture_file(AsIs(tmp_path / "a.png"), DIGITS)


def test_folders_from_before_backgrounds_stay_as_they_are() -> None:
    old = b'{"classes":["0","1"],"height":4,"width":4}'
    labels = PictureLabels.model_validate_json(old)
    assert labels.expected == Expected((4, 4), None)
    options = None
    assert PreparedPictures(options, labels, {}, []).files() == {"labels.json": old}  # type: ignore[arg-type]
