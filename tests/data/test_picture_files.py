"""Picture files of every kind that users have: how each is read, and the message of each refusal."""

import io
import struct
import zlib
from errno import EINVAL, ENOENT
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.faults import Fault
from regard.data.pictures.files import MOST_PIXELS, _refusing_damage, read_colours, read_picture_file, squash

RED, WHITE = [255, 0, 0], [255, 255, 255]


def png_promising(width: int, height: int) -> bytes:
    """Return a PNG with a header only: it promises pixels that are missing."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def cut_jpeg() -> bytes:
    content = io.BytesIO()
    Image.fromarray(np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)).save(content, "JPEG")
    return content.getvalue()[:1500]


def float_tiff() -> bytes:
    content = io.BytesIO()
    Image.new("F", (9, 9), 0.5).save(content, "TIFF")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty, so it is not a picture"),
        (b"a text, whatever it is called", "is not in a picture format that can be read: PNG, JPEG"),
        (png_promising(1, 1), "has 1 × 1 pixels; a picture must have at least 8 per side"),
        (png_promising(9000, 9000), "has 9000 × 9000 pixels; .* at most 50,000,000 in all"),
        (png_promising(20_000, 20_000), "has too many pixels; a picture may have at most 50,000,000"),
        (cut_jpeg(), "is a damaged picture: image file is truncated"),
        (png_promising(9, 9), "is a damaged picture"),
        (float_tiff(), "is a picture in the mode F, which cannot be read; save it as PNG"),
    ],
)
def test_what_is_no_picture_of_a_fitting_size_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "my.jpg"
    path.write_bytes(content)
    with pytest.raises(Fault, match=rf"my\.jpg {words}") as refused:
        read_colours(path)
    assert len(refused.value.sentences) == 1
    with pytest.raises(Fault, match=rf"The picture {words}"):
        read_colours(content, "The picture")


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_colours(tmp_path / "nothing.png")


def test_the_limit_of_pixels_is_below_what_the_decoder_itself_refuses() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert MOST_PIXELS < Image.MAX_IMAGE_PIXELS


@pytest.mark.parametrize(
    ("picture", "suffix", "colour"),
    [
        (Image.new("RGB", (9, 8), (255, 0, 0)), "png", RED),
        (Image.new("CMYK", (9, 8), (0, 255, 255, 0)), "tiff", RED),
        (Image.new("I;16", (9, 8), 2**16 - 1), "png", WHITE),
        (Image.fromarray(np.full((8, 9), 0x8000, np.uint16)), "tiff", [128, 128, 128]),
        (Image.new("RGBA", (9, 8), (0, 0, 255, 0)), "png", WHITE),
        (Image.new("LA", (9, 8), (0, 0)), "png", WHITE),
        (Image.new("1", (9, 8), 1), "png", WHITE),
        (Image.new("P", (9, 8), 0), "gif", [0, 0, 0]),
    ],
)
def test_every_sort_of_pixels_becomes_red_green_and_blue(
    tmp_path: Path, picture: Image.Image, suffix: str, colour: list[int]
) -> None:
    picture.save(tmp_path / f"my.{suffix}")
    colours = read_colours(tmp_path / f"my.{suffix}")
    assert colours.shape == (8, 9, 3)
    assert colours[0, 0].tolist() == colour


def test_a_cmyk_jpeg_is_not_inverted(tmp_path: Path) -> None:
    Image.new("CMYK", (16, 16), (0, 255, 255, 0)).save(tmp_path / "print.jpg", quality=95)
    assert np.abs(read_colours(tmp_path / "print.jpg")[8, 8].astype(int) - RED).max() < 8


def test_a_picture_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    pixels = np.zeros((8, 10, 3), np.uint8)
    pixels[:, 0] = 255  # the left edge is white
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise
    Image.fromarray(pixels).save(tmp_path / "turned.png", exif=exif)
    colours = read_colours(tmp_path / "turned.png")
    assert colours.shape == (10, 8, 3)
    assert colours[0].min() == 255  # the upper edge now
    assert colours[1:].max() == 0
    assert read_picture_file(tmp_path / "turned.png", (10, 8)).shape == (10, 8)


def test_of_a_moving_picture_the_first_frame_is_read_and_that_is_said(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    remarks: list[str] = []
    assert read_colours(tmp_path / "moving.gif", remark=remarks.append)[0, 0].tolist() == RED
    assert remarks == [f"{tmp_path}/moving.gif holds several frames; only the first is read."]


def test_a_picture_is_squashed_to_a_square() -> None:
    halves = np.zeros((20, 40, 3), np.uint8)
    halves[:, 20:] = 255
    square = squash(halves, 10)
    assert square.shape == (10, 10, 3)
    assert square[:, 0].max() == 0
    assert square[:, -1].min() == 255


def test_a_place_that_no_file_can_have_is_damage_and_a_missing_file_is_not() -> None:
    with pytest.raises(Fault, match=r"a\.tif is a damaged picture"), _refusing_damage("a.tif"):
        raise OSError(EINVAL, "Invalid argument")
    with pytest.raises(FileNotFoundError), _refusing_damage("a.tif"):
        raise FileNotFoundError(ENOENT, "No such file")
