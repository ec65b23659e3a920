"""Gradients of trained sequence models by distance from the input."""

from pathlib import Path

import pytest
import torch
from toys import open_toy
from untrained import untrained

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.runs.train import train
from regard.seeing.lessons.distances import distances_lesson, input_gradients
from regard.tasks.sequences.task import LongSequences


def batch_of(task: LongSequences) -> object:
    return next(iter(task.batches("valid", 0, 0, 0)))


def test_a_network_that_hands_nothing_on_learns_from_the_last_step_alone(tmp_path: Path) -> None:
    task = open_toy("recurrent", tmp_path, cell="vanilla", periods=[1, 2, 4, 8, 16, 32, 64, 128]).task
    with torch.no_grad():
        task.model.stack.layers[0].weight_hh_l0.zero_()
    last, *others = input_gradients(task, batch_of(task))
    assert last > 0
    assert others == [0.0] * (6 + 2 * 2 - 1)


def test_a_gradient_goes_as_far_back_as_a_network_looks(tmp_path: Path) -> None:
    """Compared with finite differences of the input four steps before the end."""
    task = open_toy("decoder", tmp_path).task
    batch = batch_of(task)
    by_distance = input_gradients(task, batch)
    exact = task.double().eval()
    read, target, shift = exact.job.numbers(batch.read, torch.float64), batch.wanted, 1e-6
    gradients = []
    for coordinate in range(2):
        higher, lower = read.clone(), read.clone()
        higher[:, -5, coordinate] += shift
        lower[:, -5, coordinate] -= shift
        with torch.no_grad():
            losses = [exact.job.losses(exact.model(inputs), target) for inputs in (higher, lower)]
        gradients.append((losses[0] - losses[1]) / (2 * shift))
    assert by_distance[4] == pytest.approx(float(torch.stack(gradients).norm(dim=0).mean()), rel=1e-5)


@pytest.mark.usefixtures("no_curves")
def test_models_beside_each_other_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = []
    for name in ("recurrent", "decoder"):
        (place := tmp_path / name).mkdir()
        train(open_toy(name, place), [])
        folders.append(place / "run")
    assert main(["show", "gradients", "--model", str(folders[0]), "--model", str(folders[1])]) == 0
    assert "By distance from the last step" in capsys.readouterr().out
    (panel,) = distances_lesson([regard.load(folder, device="cpu") for folder in folders]).panels
    assert [len(line.points) for line in panel.lines] == [6 + 2 * 2, 6]
    assert [line.name for line in panel.lines] == ["recurrent/run", "decoder/run"]
    alone = distances_lesson([regard.load(folders[0], device="cpu")]).panels[0]
    assert [line.name for line in alone.lines] == ["run"]
    assert main(["show", "gradients", "--model", str(folders[0]), "--text", "a"]) == 2
    assert main(["show", "gradients", "--text", "a"]) == 2
    assert "--text needs one --model" in capsys.readouterr().err


def test_a_translator_is_asked_for_its_text(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="does not read long sequences; for a seq2seq, give --text"):
        distances_lesson([untrained(tmp_path, cell="gru")])
