"""From a picture file to model inputs: by EfficientNet and components, or by pixels alone."""

import io
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.captions.features import FeatureFormat
from regard.data.captions.options import CaptionData
from regard.data.captions.prepare import prepare_captions
from regard.models import efficientnet
from regard.tasks.captioning.features import FeatureReader


class Averages:
    """Stand-in for a trained network: the mean of each colour at each of seven by seven places."""

    def extract_features(self, pixels: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_avg_pool2d(pixels, 7)


def components() -> bytes:
    """Return red and green alone, in halves."""
    content = io.BytesIO()
    np.savez(content, mean=np.zeros(3), proj=np.eye(3)[:, :2], step=0.5)
    return content.getvalue()


def red_picture() -> bytes:
    content = BytesIO()
    Image.new("RGB", (600, 300), (255, 0, 0)).save(content, "PNG")
    return content.getvalue()


def data_of(folder: Path, **more: Any) -> CaptionData:
    """Write two pictures, the first red and the second blue, with their captions."""
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        Image.new("RGB", (12, 9), colour).save(folder / name)
    files = {"captions": "a.png\tred\nb.png\tblue\n", "train": "a.png\n", "valid": "b.png\n", "names": "a.png\nb.png\n"}
    for name, text in files.items():
        (folder / name).write_text(text)
    named = {name: str(folder / name) for name in ("captions", "train", "valid")}
    return check(CaptionData, named | {"pictures": str(folder), "features": "own", "side": 8, "at_least": 1} | more)


def reader(folder: Path, **changes: Any) -> FeatureReader:
    form = {"rows": 7, "columns": 7, "width": 2, "step": 0.5, "extractor": "efficientnet-lite2"} | changes
    np.save(folder / "features.npy", np.zeros((2, 49, 2), np.int8))
    files = {"file": str(folder / "features.npy"), "names": str(folder / "names")}
    return FeatureReader(FeatureFormat(**form), components(), data_of(folder, features=files))


def test_a_picture_becomes_the_features_that_the_set_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(efficientnet, "_network", Averages)
    features = reader(tmp_path).read(red_picture())
    assert features.features.shape == (49, 2)
    assert features.features[0].tolist() == [1.0, -1.0]  # (255 − 127) / 128 and −127 / 128, in halves
    assert features.picture is not None
    assert features.picture.shape == (128, 256, 3)
    assert features.picture[0, 0].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 5}, "The picture holds 49 × 2 numbers; this model reads features by efficientnet-lite2 of 7 × 7"),
        ({"rows": 4}, "this model reads features by efficientnet-lite2 of 4 × 7 places"),
        ({"extractor": "another"}, "The picture cannot be read: regard cannot compute the features by another"),
    ],
)
def test_features_of_another_model_are_not_taken_for_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(efficientnet, "_network", Averages)
    with pytest.raises(Fault, match=words):
        reader(tmp_path, **changes).read(red_picture())


def test_a_picture_of_the_data_is_shown_where_it_is_here(tmp_path: Path) -> None:
    features = reader(tmp_path).read("b.png")
    assert features.picture is not None
    assert features.picture[0, 0].tolist() == [0.0, 0.0, 1.0]
    (tmp_path / "b.png").unlink()
    assert reader(tmp_path).picture_of("c.png") is None


def test_of_a_video_of_the_data_the_frame_in_the_middle_is_shown(tmp_path: Path) -> None:
    picture_reader = reader(tmp_path, frames=2)
    first, *others = (Image.new("RGB", (12, 9), colour) for colour in ("red", "lime", "blue"))
    first.save(tmp_path / "c.gif", save_all=True, append_images=others)
    middle = picture_reader.picture_of("c.gif")
    assert middle is not None
    assert middle.shape == (9, 12, 3)
    assert middle[0, 0].tolist() == [0.0, 1.0, 0.0]


def test_a_set_that_came_without_its_pictures_still_has_their_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sets" / "flickr8k").mkdir(parents=True)
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "sets"))
    picture_reader = reader(tmp_path)
    without = replace(picture_reader, data=picture_reader.data.model_copy(update={"pictures": "flickr8k:test_128px"}))
    assert without.read("b.png").picture is None


def test_pictures_of_ones_own_are_learnt_from_as_pixels(tmp_path: Path) -> None:
    ready = prepare_captions(data_of(tmp_path), tmp_path / "ready", silent)
    assert ready.features.shape == (2, 64, 3)
    assert ready.features[0, 0].tolist() == [255, 0, 0]
    assert ready.features[ready.first_of("valid"), 63].tolist() == [0, 0, 255]
    assert (ready.format.rows, ready.format.extractor) == (8, "pixels")


def test_a_picture_that_is_named_and_not_there_is_missed_by_its_name(tmp_path: Path) -> None:
    data = data_of(tmp_path)
    (tmp_path / "b.png").unlink()
    with pytest.raises(Fault, match=r"has no picture b\.png"):
        prepare_captions(data, tmp_path / "ready", silent)
