"""The patch Transformer: patches, cost by hand, gazes, and heads that attend by position."""

from pathlib import Path

import pytest
import torch
from PIL import Image
from toys import open_toy

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.cli import main
from regard.data.pictures.prepare import PictureLabels
from regard.models.captions.encoder import EncoderOptions, encoder_of
from regard.models.patches import PatchOptions, PatchTransformer, cut_into_patches
from regard.runs.train import train
from regard.tasks.glimpses.batches import PictureBatch
from regard.tasks.glimpses.options import GlimpsesTraining
from regard.tasks.glimpses.task import Glimpses
from regard.viewing.sides import Cells

SMALL = {"patch": 4, "width": 8, "layers": 2, "heads": 2, "feed_forward": 12}


def test_patches_come_row_after_row_with_zeros_at_the_edges() -> None:
    picture = torch.arange(6.0).reshape(1, 2, 3)
    assert cut_into_patches(picture, 2).tolist() == [[[0, 1, 3, 4], [2, 0, 5, 0]]]


@pytest.mark.parametrize("by", ["content", "place"])
def test_it_gives_probabilities_whatever_its_batch_mates_are(by: str) -> None:
    model = PatchTransformer(PatchOptions(**SMALL, heads_look_by=by), 5, 9, 7).double().eval()
    pictures = torch.rand(3, 9, 7, dtype=torch.float64)
    whole = model.answer(pictures)
    torch.testing.assert_close(whole.exp().sum(-1), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(model.answer(pictures[1:2]), whole[1:2])


@pytest.mark.parametrize(("by", "pair"), [("content", 8 + 8), ("place", 3 * 2 + 8)])
def test_what_an_answer_costs_is_counted(by: str, pair: int) -> None:
    model = PatchTransformer(PatchOptions(**SMALL, heads_look_by=by), 3, 8, 8)
    matrices = 16 * 8 + 2 * ((4 if by == "content" else 2) * 8 * 8 + 2 * 8 * 12)
    assert model.multiplications(8, 8) == 4 * matrices + 2 * 16 * pair + 8 * 3


def test_the_rollout_says_where_the_answer_came_from() -> None:
    model = PatchTransformer(PatchOptions(**SMALL), 3, 8, 12).eval()
    with watching(model) as gazes:
        model.note_answer(torch.rand(2, 8, 12))
    (gaze,) = gazes
    assert (gaze.where, gaze.looks_from, gaze.looks_at) == ("rollout", "answer", "picture")
    assert gaze.weights.shape == (2, 1, 1, 6)
    torch.testing.assert_close(gaze.weights.sum(-1), torch.ones(2, 1, 1))


def test_a_picture_is_shown_with_the_edges_that_its_last_patches_were_filled_up_with() -> None:
    """Cells over the picture alone would be narrower than the patches."""
    labels = PictureLabels(classes=["a", "b"], height=5, width=7)
    task = Glimpses(PatchTransformer(PatchOptions(**SMALL), 2, 5, 7), labels, GlimpsesTraining())
    picture = torch.full((1, 5, 7), 255, dtype=torch.uint8)
    shown = task.sides(PictureBatch(picture, torch.tensor([0]), torch.tensor([0])), [])["picture"]
    assert isinstance(shown, Cells)
    assert (shown.picture.shape, shown.grid) == ((8, 8), (2, 2))
    assert (shown.picture[:5, :7] == 1).all()
    assert shown.picture.sum() == 35


def test_an_encoder_of_patches_gives_a_captioner_an_annotation_for_each() -> None:
    options = check(EncoderOptions, {"patches": SMALL}, "model.encoder")
    encoder = encoder_of(options, side=10).eval()
    assert (encoder.grid, encoder.depth, len(encoder.places)) == ((3, 3), 8, 9)
    pixels = torch.rand(2, 100, 3)
    result = encoder(pixels)
    assert result.shape == (2, 9, 8)
    pixels[0, 99] = 0  # the last pixel is in the last patch, which all others see
    assert not torch.equal(encoder(pixels)[0, 0], result[0, 0])
    assert torch.equal(encoder(pixels)[1], result[1])
    with pytest.raises(Fault, match="channels and kernel belong to convolutions; omit them with patches"):
        check(EncoderOptions, {"patches": SMALL, "kernel": 3}, "model.encoder")


def test_heads_that_do_not_share_the_width_are_refused_unless_they_look_by_place() -> None:
    with pytest.raises(Fault, match="width 8 cannot be shared out among 3 heads"):
        check(PatchOptions, {**SMALL, "heads": 3}, "model")
    check(PatchOptions, {**SMALL, "heads": 9, "heads_look_by": "place"}, "model")


def test_people_see_rollout_heads_and_learnt_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = open_toy("patches", tmp_path, heads_look_by="place")
    train(run, [])
    model, picture = str(run.folder.folder), str(tmp_path / "scene.png")
    Image.new("L", (18, 18)).save(picture)
    for options in ([], ["--side", "encoder", "--layer", "1", "--head", "2"]):
        capsys.readouterr()
        assert main(["look", model, picture, *options]) == 0
        output = capsys.readouterr().out
        assert ("\nrollout" in output) != bool(options)
    assert "3, 1" in output  # the first patch of the third row looks too
    assert main(["heads", model]) == 0
    path = tmp_path / "heads.png"
    assert main(["show", "convolution", "--model", model, "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_lesson_refuses_filters_without_a_middle(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "convolution", "--kernel", "4"]) == 2
    assert "--kernel is 4, but a filter needs a centre" in capsys.readouterr().err
