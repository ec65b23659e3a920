"""Long sequences: the published jobs, input and output, and refusals."""

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from picture_files import write_set
from toys import open_toy

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.pictures.prepare import PictureLabels
from regard.data.sequences.drawing import draw_copies, draw_sums
from regard.data.sequences.options import SequenceData
from regard.data.sequences.prepare import prepare_sequences
from regard.tasks.sequences.jobs import Adding, Copying, Pixels, job_of


def chance() -> np.random.Generator:
    return np.random.default_rng(5)


def test_one_number_of_each_half_is_marked_and_their_sum_is_wanted() -> None:
    read, targets = draw_sums(7, 200, chance())
    assert read.shape == (200, 7, 2)
    assert (read[:, :3, 1].sum(1) == 1).all()
    assert (read[:, 3:, 1].sum(1) == 1).all()
    np.testing.assert_allclose((read[:, :, 0] * read[:, :, 1]).sum(1), targets, rtol=1e-6)


def test_who_always_answers_one_is_wrong_by_a_sixth() -> None:
    """The variance of the sum of two uniform draws is 2/12."""
    _, targets = draw_sums(20, 20_000, chance())
    assert np.square(targets - 1).mean() == pytest.approx(1 / 6, rel=0.03)


def test_symbols_are_shown_then_nothing_then_asked_for() -> None:
    read, targets = draw_copies(COPY, 1, chance())
    first, second = read[0, :2]
    assert read[0].tolist() == [first, second, 0, 0, 0, 4, 0, 0]
    assert targets[0].tolist() == [0, 0, 0, 0, 0, 0, first, second]
    assert 1 <= first <= 3


def test_who_has_forgotten_the_symbols_has_the_published_loss() -> None:
    """n log k / (T + 2n) for a model that is sure wherever there is no target."""
    _, targets = map(torch.from_numpy, draw_copies(COPY, 4, chance()))
    outputs = torch.full((4, 8, 4), -1e9)
    outputs[:, :6, 0], outputs[:, 6:, 1:] = 0.0, 0.0
    job = Copying(COPY)
    assert float(job.losses(outputs, targets).sum()) / targets.numel() == pytest.approx(2 * log(3) / (4 + 4))


COPY = SequenceData(job="copy", length=4, symbols=3, remembered=2)
LABELS = PictureLabels(classes=["no", "yes"], height=2, width=3)


def pixels(folder: Path, **options: Any) -> dict[str, Any]:
    pictures = np.arange(10 * 6).reshape(10, 2, 3)
    return {"job": "pixels", "pictures": {"train": write_set(folder, pictures, [0, 1] * 5)}} | options


def test_pixels_are_read_row_by_row_or_in_one_drawn_order(tmp_path: Path) -> None:
    options = check(SequenceData, pixels(tmp_path, at_once=2), "data")
    prepared = prepare_sequences(options, tmp_path / "ready", silent)
    (read, labels), *_ = prepared.batches("train", 8, 3, 0, 0)
    first = int(read[0, 0, 0])
    assert read[0].tolist() == [[first, first + 1], [first + 2, first + 3], [first + 4, first + 5]]
    assert [int(row[0, 0]) // 6 % 2 for row in read] == labels.tolist()
    again = prepare_sequences(options.model_copy(update={"permuted": True}), tmp_path / "ready", silent)
    (mixed, _), *_ = again.batches("train", 8, 3, 0, 0)
    order = (mixed[0].flatten() - first).tolist()
    assert sorted(order) == [0, 1, 2, 3, 4, 5]
    assert all(((row.flatten() - row.min()).tolist() == order) for row in mixed)


@pytest.mark.parametrize(
    ("job", "text", "words"),
    [
        (Adding(SequenceData(job="adding", length=4)), "0.1 0.2* 0.3", "Mark two numbers to add.*, not 1"),
        (Adding(SequenceData(job="adding", length=4)), "0.1* 7* 0.3", "7 is not between 0 and 1"),
        (Adding(SequenceData(job="adding", length=4)), "0 0 0 0* 0*", "There are 5 numbers.*trained on 4"),
        (Adding(SequenceData(job="adding", length=4)), "0.5* half*", "'half' is not a number"),
        (Copying(COPY), "1 2 3", "remembers 2 symbols, not 3"),
        (Copying(COPY), "1 4", "4 is not between 1 and 3"),
        (Copying(COPY), "1 1.5", "Symbols are whole numbers from 1 to 3"),
        (job_of(SequenceData(job="adding"), LABELS), "1 2 3", "2 × 3 = 6 pixels, not 3"),
    ],
)
def test_what_is_no_sequence_is_refused(job: Adding | Copying | Pixels, text: str, words: str) -> None:
    with pytest.raises(Fault, match=words):
        job.parse(text)


def test_sequences_as_people_write_them() -> None:
    adding = Adding(SequenceData(job="adding", length=4)).parse("0.5* 0.25 1*")
    assert adding.tolist() == [[0.5, 1], [0, 0], [0.25, 0], [1, 1]]
    assert Copying(COPY).steps(Copying(COPY).parse("3 1")) == ["3", "1", "–", "–", "–", "?", "–", "–"]
    two = Pixels(SequenceData(job="adding", length=6).model_copy(update={"at_once": 2}), LABELS)
    assert two.parse("0 1 2 3 4 255").tolist() == [[0, 1], [2, 3], [4, 255]]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"job": "adding", "symbols": 3}, "symbols belongs to copy, but job is 'adding'"),
        ({"job": "copy", "permuted": True}, "permuted belongs to pixels"),
        ({"job": "pixels"}, "job = 'pixels' needs pictures"),
    ],
)
def test_options_of_another_job_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(SequenceData, table, "data")


def test_steps_that_do_not_divide_a_picture_are_refused(tmp_path: Path) -> None:
    options = check(SequenceData, pixels(tmp_path, at_once=4), "data")
    with pytest.raises(Fault, match="at_once is 4, but a picture has 6 pixels"):
        prepare_sequences(options, tmp_path / "ready", silent)


def test_a_right_answer_and_a_wrong_one() -> None:
    adding = Adding(SequenceData(job="adding"))
    assert adding.right(torch.tensor([[1.0], [1.0]]), torch.tensor([1.03, 0.95])).tolist() == [[True], [False]]
    assert repr(adding.answer(torch.tensor([0.75]))) == "Answer('0.750')"  # nothing is weighted against it
    copying, outputs = Copying(COPY), torch.zeros(8, 4)
    outputs[6, 3], outputs[7, 0] = 50.0, 50.0
    answer = copying.answer(outputs)
    assert (answer.answer, round(answer.probability, 6)) == ("3 –", 1.0)
    assert copying.right(outputs[None], torch.tensor([[0] * 6 + [3, 2]])).tolist() == [[True, False]]


def test_faults_name_the_line_and_answers_come_in_order(tmp_path: Path) -> None:
    task = open_toy("decoder", tmp_path).task.eval()
    alone = task.answers(task.read(["0.5* 0.1*"]))[0].answer
    assert [answer.answer for answer in task.answers(task.read(["0.2 0.5 0.7* 0.1*", "0.5* 0.1*"]))][1] == alone
    with pytest.raises(Fault, match="Text 2: Mark two numbers"):
        task.read(["0.5* 0.1*", "0.5"])
