"""The drawing verb over a fake task: batches, seeds, and refusals."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import regard.loading
import regard.verbs.draw.run
from regard.base.faults import Fault
from regard.cli import main
from regard.verbs.draw.request import DrawRequest
from regard.verbs.draw.run import draw_each
from regard.viewing.drawings import DrawnCanvas


class Scribbler:
    """Fake task that draws noise of a single step and records how many drawings were requested at once."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def draw(self, count: int, chance: torch.Generator) -> list[DrawnCanvas]:
        self.asked.append(count)
        return [DrawnCanvas(torch.rand(1, 2, 2, generator=chance).numpy()) for _ in range(count)]


def test_the_first_drawings_of_many_are_those_of_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.verbs.draw.run, "AT_ONCE", 2)
    task = Scribbler()
    many, few, other = (
        [drawing.canvases for drawing in draw_each(task, DrawRequest(count=count, seed=seed))]
        for count, seed in ((5, 7), (3, 7), (3, 8))
    )
    assert task.asked == [2, 2, 1, 2, 1, 2, 1]
    np.testing.assert_array_equal(many[:3], few)
    assert not np.array_equal(few, other)


def test_one_that_draws_from_chance_alone_takes_nothing_else() -> None:
    for options in ({"temperature": 0.5}, {"complete": [[[0.0, 0.0], [1.0, 1.0]]]}):
        with pytest.raises(Fault, match="at random; it takes neither strokes nor a temperature"):
            list(draw_each(Scribbler(), DrawRequest(**options)))


@pytest.mark.parametrize("given", [{"count": 0}, {"count": 1001}, {"seed": -1}, {"number": 3}])
def test_a_request_that_makes_no_sense_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(Fault, match=r"count|seed"):
        DrawRequest.read(given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "Drawings go into a file; name one, as in -o drawings.png."),
        (
            ["-o", "drawings.jpg"],
            "drawings.jpg does not end in .png, .gif, .json or .svg; the suffix chooses the format.",
        ),
        (["-o", "drawings.gif", "--frames", "3"], "--frames is for a .png; drawings.gif shows all steps or none."),
        (["-o", "drawings.png", "--count", "0"], "--count is 0, expected 1 or more"),
        (["-o", "drawings.png"], "is not a model folder"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(
    tmp_path: Path, given: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", str(tmp_path), *given]) == 2
    assert sentence in capsys.readouterr().err


def test_fewer_steps_than_frames_are_remarked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(regard.loading, "load_able", lambda model, verb: SimpleNamespace(task=Scribbler()))
    assert main(["draw", "model", "-o", str(tmp_path / "steps.png"), "--frames", "3"]) == 0
    assert "A drawing has 1 step to show, fewer than --frames 3." in capsys.readouterr().err
    assert (tmp_path / "steps.png").exists()


def test_a_drawing_is_not_replaced_by_what_completes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "begun.json"
    file.write_text("[[[0, 0], [1, 1]]]\n")
    (tmp_path / "other.json").write_text("[[[0, 0], [2, 1]]]\n")
    for given in (["--complete", str(file)], ["--between", str(tmp_path / "other.json"), str(file)]):
        assert main(["draw", "model", *given, "-o", str(file), "--overwrite"]) == 2
        assert f"{file} is an input too; write the output to another file." in capsys.readouterr().err
    assert file.read_text() == "[[[0, 0], [1, 1]]]\n"
