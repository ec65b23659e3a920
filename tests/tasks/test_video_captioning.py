"""Video captions: from a GIF, a folder of frames or a name to words, and the frames they looked at."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from toys import open_trained_toy

import regard
from regard.base.progress import silent
from regard.cli import main
from regard.commands.show.gallery import caption_gallery
from regard.commands.train import say_result
from regard.data.captions.generated import generate_named
from regard.runs.evaluate import own_data
from regard.serving.served import ServedModel
from regard.verbs.caption.validation import CaptionValidator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an almost untrained video captioner."""
    return open_trained_toy("video captioner", tmp_path_factory.mktemp("videos")).folder.folder


@pytest.fixture(scope="module")
def video(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a folder of the frames of the video test-1."""
    place = tmp_path_factory.mktemp("frames")
    frames = generate_named(regard.load(folder, device="cpu").recipe.data, "test-1")
    assert frames is not None
    for number, frame in enumerate(frames):
        Image.fromarray(frame).save(place / f"{number}.png")
    return place


def test_a_video_is_captioned_by_its_frames_its_gif_its_pixels_or_its_name(
    folder: Path, video: Path, tmp_path: Path
) -> None:
    frames = [Image.open(video / f"{number}.png") for number in range(8)]
    frames[0].save(tmp_path / "it.gif", save_all=True, append_images=frames[1:])
    np.save(tmp_path / "it.npy", np.stack([np.asarray(frame) for frame in frames]).astype(np.float32) / 255)
    model = regard.load(folder, device="cpu")
    by_name, by_frames, by_pixels = model.caption(["test-1", video, tmp_path / "it.npy"])
    assert by_name.text == by_frames.text == by_pixels.text
    assert by_name.score == pytest.approx(by_frames.score, abs=1e-4)
    (by_gif,) = model.caption([(tmp_path / "it.gif").read_bytes()])  # 256 colours, so it may differ a little
    assert by_gif.score == pytest.approx(by_name.score, rel=0.1)
    assert by_name.attention is not None
    assert by_name.attention.shape == (len(by_name.words), 1, 8)


def test_what_it_looked_at_is_drawn_as_a_strip(folder: Path, video: Path, tmp_path: Path) -> None:
    out = tmp_path / "look.json"
    assert main(["look", str(folder), str(video), "-o", str(out)]) == 0
    report = json.loads(out.read_text())
    weights = np.array(report["blocks"][0]["weights"])
    assert np.array(report["frames"]).shape == (8, 8, 8, 3)
    assert weights.shape == (1, len(report["words"]), 8)
    np.testing.assert_allclose(weights.sum(axis=2), 1.0, atol=1e-5)


def test_what_it_reads_is_called_a_video(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say_result(folder)
    assert f"try: regard caption {folder} video.gif" in capsys.readouterr().err
    assert main(["look", str(folder)]) == 2
    assert "A captioner reads a video, a GIF or a folder of frames; give one to look at" in capsys.readouterr().err
    assert ServedModel("toy", folder).describe().reads == "video"


def test_what_is_no_video_is_refused_in_a_sentence(
    folder: Path, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.gif").write_text("no picture")
    for path, words in {
        video / "1.png": "is a still picture; give a GIF with several frames, or a folder of frames",
        tmp_path / "empty": "holds no frame",
        tmp_path / "text.gif": "is not in a picture format",
        Path("test-9"): "There is no file test-9, and no picture of that name",
    }.items():
        assert main(["caption", str(folder), str(path)]) == 2
        assert words in capsys.readouterr().err


def test_a_gallery_shows_a_frame_of_each_video_and_takes_no_frames_for_places(folder: Path) -> None:
    gallery = caption_gallery(regard.load(folder, device="cpu"), folder, "test", 1, silent, lambda text: None)
    (best,) = gallery.best
    assert best.picture is not None
    assert best.picture.ndim == 3
    assert best.weights is None


def test_perplexity_is_added_up_by_video_for_comparisons(folder: Path) -> None:
    """The total cost of four captions of a video; over all videos it is the measured one."""
    model = regard.load(folder, device="cpu")
    with own_data(model, folder, silent, lambda text: None):
        validator = CaptionValidator(model.task, model.recipe)
        sums = validator.sums("test", ["perplexity", "meteor"])
        measured = validator.measure("test", ["perplexity"])["perplexity"].tally.value
    assert [len(tally.rows) for tally in sums.values()] == [2, 2]
    assert sums["perplexity"].value() == pytest.approx(measured)
