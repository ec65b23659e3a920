"""Videos that users have: which frames are read, and refusals."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.faults import Fault
from regard.data.pictures import videos
from regard.data.pictures.videos import read_frames, spread


def moving(count: int, size: tuple[int, int] = (10, 12)) -> bytes:
    """Write a GIF whose frame n has grey level 10 n."""
    frames = [Image.new("L", size, 10 * number) for number in range(count)]
    file = BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return file.getvalue()


def greys(source: Path | bytes, count: int) -> list[int]:
    return [int(frame[0, 0, 0]) for frame in read_frames(source, "it", count)]


def test_frames_are_spread_from_the_first_to_the_last() -> None:
    assert spread(9, 3) == [0, 4, 8]
    assert spread(2, 4) == [0, 0, 1, 1]
    assert greys(moving(9), 3) == [0, 40, 80]


def test_a_folder_of_frames_is_read_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        Image.new("RGB", (8, 8), (number,) * 3).save(tmp_path / f"frame{number}.png")
    (tmp_path / ".hidden").write_text("not a frame")
    assert greys(tmp_path, 3) == [1, 2, 10]
    assert [frame.shape for frame in read_frames(tmp_path, "it", 2)] == [(8, 8, 3)] * 2
    Image.new("RGB", (9, 8)).save(tmp_path / "frame11.png")
    with pytest.raises(Fault, match=r"frame11\.png has 8 × 9 pixels \(height × width\), but the first frame has 8 × 8"):
        greys(tmp_path, 2)


def picture(kind: str) -> bytes:
    file = BytesIO()
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (picture("GIF"), "it is a still picture; give a GIF with several frames, or a folder of frames"),
        (picture("JPEG"), "it is a still picture"),
        (b"no picture at all", "it is not in a picture format"),
        (b"", "it is empty"),
        (moving(3, (4, 40)), r"it has 40 × 4 pixels \(height × width\); a picture must have at least 8 per side"),
        (moving(4, (200, 200))[:-30], "it is a damaged picture"),
    ],
)
def test_what_is_no_video_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(Fault, match=words):
        greys(content, 4)


def test_a_video_that_is_too_long_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(videos, "MOST_FRAMES", 5)
    with pytest.raises(Fault, match="it has 6 frames; a video may have at most 5, with"):
        greys(moving(6), 4)


def test_a_folder_with_hardly_anything_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="The folder it holds no frame; a video needs several"):
        greys(tmp_path, 4)


def test_a_folder_of_videos_is_no_video(tmp_path: Path) -> None:
    for name in ("1.gif", "2.gif"):
        (tmp_path / name).write_bytes(moving(3))
    with pytest.raises(Fault, match=r"1\.gif is a video itself, but frames in a folder must be still pictures"):
        greys(tmp_path, 4)
