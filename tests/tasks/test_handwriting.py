"""Lines of writing: how they are made, read by column, and drawn; refusals."""

from pathlib import Path

import numpy as np
import pytest
import torch
from picture_files import write_set
from PIL import Image
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.pictures.prepare import LabelledPictures
from regard.data.pictures.written_lines import LineOptions, write_line
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.tasks.handwriting.task import Handwriting
from regard.viewing.sides import Cells, Steps

BARS = np.zeros((2, 3, 6), np.uint8)  # sign 0 is two columns of 100, sign 1 a single one of 200
BARS[0, :, 2:4], BARS[1, :, 4] = 100, 200
SIGNS = LabelledPictures(BARS, np.array([0, 1]), np.arange(2))


def test_a_line_is_made_of_cut_signs_at_a_distance() -> None:
    line = write_line(SIGNS, LineOptions(shortest=3, longest=3, gap=[1, 1]), [5])
    widths = [[2, 1][label] for label in line.labels]
    assert line.pixels.shape == (3, sum(widths) + 2 + 2 * 2)  # two gaps between them, and two margins of two columns
    expected = [0, 0, *[value for label in line.labels for value in [*[[100, 100], [200]][label], 0]][:-1], 0, 0]
    assert line.pixels[0].tolist() == expected


def test_signs_that_overlap_keep_the_brighter_pixel() -> None:
    options = LineOptions(shortest=2, longest=2, gap=[-1, -1])
    lines = [write_line(SIGNS, options, [key]) for key in range(20)]
    line = next(candidate for candidate in lines if candidate.labels.tolist() == [0, 1])
    assert line.pixels[1].tolist() == [0, 0, 100, 200, 0, 0]


def test_a_line_is_a_function_of_its_key() -> None:
    options = LineOptions(longest=4)
    one, same, other = (write_line(SIGNS, options, key) for key in ([1, 2], [1, 2], [1, 3]))
    assert np.array_equal(one.pixels, same.pixels)
    assert one.pixels.shape != other.pixels.shape or not np.array_equal(one.pixels, other.pixels)


def open_task(folder: Path) -> Handwriting:
    data = {"train": write_set(folder, np.repeat(BARS, 10, axis=0), [0] * 10 + [1] * 10)}
    training = {"steps": 1, "validate_every": 1, "save_every": 1, "device": "cpu"}
    model = {"stack": 1, "width": 4, "layers": 1}
    table = {"family": "ctc", "task": "handwriting", "data": data, "model": model, "training": training}
    return open_run(check_recipe(table), folder / "run", False, silent, lambda remark: None).task


def test_it_reads_columns_and_says_where_each_sign_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This network knows both signs by their grey and says nothing elsewhere."""
    task = open_task(tmp_path)
    pixels = np.zeros((3, 12), np.uint8)
    pixels[:, 2:4], pixels[:, 6], pixels[:, 8:10] = 100, 200, 100
    Image.fromarray(pixels).save(tmp_path / "line.png")

    def know(columns: Tensor, widths: Tensor) -> tuple[Tensor, Tensor]:
        grey = (255 * columns[:, :, 0]).round()
        return torch.stack([grey == 100, grey == 200, grey == 0], dim=-1).float().mul(20).log_softmax(-1), widths

    monkeypatch.setattr(task.model, "forward", know)
    batch = task.read([tmp_path / "line.png"])
    with watching(task.model, where="occupancy") as gazes:
        (answer,) = task.answers(batch)
    assert answer.answer == "010"
    assert answer.probability == pytest.approx(1, abs=1e-3)
    signs = [column.nonzero().flatten().tolist() for column in gazes[0].weights[0, 0, :, :3].round().T]
    assert signs == [[2, 3], [6], [8, 9]]
    sides = task.sides(batch, [answer])
    assert sides["labels"] == Steps(["0", "1", "0", "between"])
    assert isinstance(sides["source"], Cells)
    assert sides["source"].grid == (1, 12)


def test_lines_of_another_height_are_refused(tmp_path: Path) -> None:
    task = open_task(tmp_path)
    Image.fromarray(np.zeros((5, 9), np.uint8)).save(tmp_path / "line.png")
    with pytest.raises(Fault, match=r"line\.png is 5 pixels high, but this model reads lines of 3"):
        task.read([tmp_path / "line.png"])


def test_ranges_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(Fault, match="shortest: 3 is more than 2"):
        check(LineOptions, {"shortest": 3, "longest": 2})
    with pytest.raises(Fault, match=r"gap: \[2, 1\] is not a range"):
        check(LineOptions, {"gap": [2, 1]})
