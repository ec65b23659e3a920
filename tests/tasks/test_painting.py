"""Painting from captions: codebook and chances by hand, refused captions, and views."""

import json
from pathlib import Path

import pytest
import torch
from toys import open_toy

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.cli import main
from regard.commands.train import say_result
from regard.data.painting.options import PaintingData
from regard.data.painting.prepare import CaptionWords, prepare_painting
from regard.families import check_recipe
from regard.models.painting.codebook import Codebook
from regard.models.painting.network import Painter, PainterOptions
from regard.runs.train import train
from regard.tasks.painting.task import painting_batches

SMALL = {"codes": 3, "code_depth": 2, "halvings": 1, "channels": 2, "width": 4, "layers": 1, "heads": 2}


def codebook() -> Codebook:
    torch.manual_seed(1)
    return Codebook(1, width=2, halvings=1, codes=2, depth=2, commitment=0.25).double()


def test_each_cell_takes_the_nearest_code_whatever_its_length() -> None:
    book = codebook()
    with torch.no_grad():
        book.vectors.copy_(torch.tensor([[5.0, 0.0], [0.0, 0.1]]))
    cells = torch.tensor([[[[0.8, 0.1]], [[0.6, 0.9]]]], dtype=torch.float64)  # two cells: (0.8, 0.6) and (0.1, 0.9)
    assert book._nearest(cells).tolist() == [[[0, 1]]]


def test_the_gradient_passes_straight_through_the_code_to_the_encoder() -> None:
    """Without commitment the encoder learns from the error alone, as if no code had replaced its vector."""
    book, pictures = codebook(), torch.rand(2, 1, 4, 4, dtype=torch.float64)
    book.commitment = 0.0
    coded = book(pictures)
    (coded.error + coded.distance).sum().backward()
    cells = torch.nn.functional.normalize(book.encoder(pictures), dim=1)
    taken = book._vectors_of(coded.codes).detach().requires_grad_()
    (by_decoder,) = torch.autograd.grad((book.decoder(taken) - pictures).square().sum(), taken)
    (expected,) = torch.autograd.grad(cells, book.encoder[0].weight, by_decoder)
    torch.testing.assert_close(book.encoder[0].weight.grad, expected)


def test_the_first_codes_are_vectors_of_pictures_and_differ() -> None:
    book, pictures = codebook(), torch.rand(3, 1, 4, 4, dtype=torch.float64)
    book.begin_with(pictures, torch.Generator().manual_seed(2))
    coded = book(pictures)
    assert len(coded.codes.unique()) == 2
    cells = torch.nn.functional.normalize(book.encoder(pictures), dim=1).permute(0, 2, 3, 1).reshape(-1, 2)
    nearest = torch.cdist(book.vectors, cells).min(dim=1).values
    torch.testing.assert_close(nearest, torch.zeros_like(nearest))


def painter() -> Painter:
    torch.manual_seed(3)
    return Painter(PainterOptions(**SMALL), words=3, longest=2, channels=1, height=4, width=4).double().eval()


def test_codes_are_as_probable_as_when_they_are_forced() -> None:
    """Chances of 0 and nearly 1 draw the first and the last code; of a hundred chances each code has its share."""
    model, captions, lengths = painter(), torch.tensor([[1, 2]]), torch.tensor([2])
    ends = torch.tensor([[0.0, 0.9999999, 0.0, 0.9999999]])
    assert model.paint(captions, lengths, ends, 1.0).tolist() == [[[0, 2], [0, 2]]]
    steps = 100
    chances = torch.zeros(steps, 4)
    chances[:, 0] = (torch.arange(steps) + 0.5) / steps
    codes = model.paint(captions.expand(steps, -1), lengths.expand(steps), chances, 1.0)[:, 0, 0]
    every = torch.cartesian_prod(*[torch.arange(3)] * 4).unflatten(1, (2, 2))
    shares = (-model.nats(every, captions.expand(81, -1), lengths.expand(81))).exp()
    torch.testing.assert_close(shares.sum(), torch.ones((), dtype=torch.float64))
    first = shares.unflatten(0, (3, 27)).sum(dim=1)
    assert ((codes.bincount(minlength=3) / steps - first).abs() <= 1 / steps).all()


def test_padding_of_a_caption_changes_nothing() -> None:
    model, codes = painter(), torch.tensor([[[0, 1], [2, 1]]])
    short, long = (model.nats(codes, torch.tensor([words]), torch.tensor([1])) for words in ([2], [2, 0]))
    torch.testing.assert_close(short, long)


WORDS = CaptionWords(words=["a", "red", "star"], longest=3, height=8, width=8, channels=3)


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("", "There is no caption; this model knows the words a, red, star."),
        ("a blue star", "This model does not know the word 'blue'; it knows a, red, star."),
        ("a red red star", "The caption has 4 words, but this model reads at most 3."),
    ],
)
def test_captions_that_cannot_be_read_are_refused(caption: str, words: str) -> None:
    assert WORDS.numbers("A red  star") == [1, 2, 3]
    with pytest.raises(Fault, match=words):
        WORDS.numbers(caption)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "give either labelled 'pictures' or generated 'shapes'"),
        ({"shapes": {}, "names": ["a"]}, "names are for the classes of 'pictures'"),
        ({"shapes": {"side": 10}}, "which makes cells of 4 × 4 pixels; pictures of 10 × 10 cannot be divided"),
    ],
)
def test_data_that_cannot_be_painted_is_refused(data: dict, words: str, tmp_path: Path) -> None:
    from regard.tasks.painting.task import Painting

    with pytest.raises(Fault, match=words):
        Painting.check(check_recipe({"family": "painter", "data": data}), torch.device("cpu"), None)


def test_generated_shapes_are_prepared_once_with_captions_that_are_drawn_anew(tmp_path: Path) -> None:
    options = PaintingData(shapes={"side": 8, "train": 6, "valid": 2, "test": 2})
    prepared = prepare_painting(options, tmp_path, silent)
    again = prepare_painting(options, tmp_path, lambda *messages: pytest.fail("nothing is to be drawn again"))
    assert prepared.words == again.words
    first, second = (
        torch.cat([batch.captions for batch in painting_batches(prepared, "train", 4, 1, epoch, 0)]) for epoch in (0, 1)
    )
    assert first.shape == (6, prepared.words.longest)
    assert not torch.equal(first, second)
    (late,) = painting_batches(again, "train", 4, 1, 0, 1)
    assert torch.equal(late.captions, first[4:])


@pytest.mark.long
def test_people_draw_and_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = open_toy("painter", tmp_path)
    train(run, [])
    model = str(run.folder.folder)
    say_result(run.folder.folder)
    assert f"try: regard draw {model} --prompt 'text' -o drawings.png" in capsys.readouterr().err
    assert main(["draw", model, "--prompt", "a black flag", "--count", "2", "-o", str(tmp_path / "flags.json")]) == 0
    drawings = json.loads((tmp_path / "flags.json").read_text(encoding="utf-8"))["drawings"]
    assert [(len(drawing["picture"]), drawing["steps"]) for drawing in drawings] == [(8, 8), (8, 8)]
    assert main(["draw", model, "-o", str(tmp_path / "none.png")]) == 2
    assert "give a prompt, and no strokes" in capsys.readouterr().err
    assert main(["draw", model, "--prompt", "green", "-o", str(tmp_path / "none.png")]) == 2
    assert "This model does not know the word 'green'" in capsys.readouterr().err
    assert main(["look", model, "a black flag"]) == 0
    assert "flag" in capsys.readouterr().out
    assert main(["look", model, "a black flag", "--side", "decoder"]) == 0
    assert "2, 4" in capsys.readouterr().out


def test_a_watched_painting_is_seen_in_one_pass(tmp_path: Path) -> None:
    task = open_toy("painter", tmp_path).task.eval()
    batch = task.read(["white"])
    plain = task.paint(batch, torch.Generator().manual_seed(1))
    with watching(task.model) as gazes:
        watched = task.paint(batch, torch.Generator().manual_seed(1))
    assert (plain[0].canvases == watched[0].canvases).all()
    assert {(gaze.looks_from, gaze.looks_at) for gaze in gazes} == {
        ("source", "source"),
        ("target", "target"),
        ("target", "source"),
    }
