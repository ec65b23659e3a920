"""Every family on a GPU: trained, resumed, measured, and compared with the CPU for every verb."""

import json
from copy import copy, deepcopy
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from small import undrawn
from torch import Tensor, nn
from toy_verbs import DRAWN, inputs_of
from toys import TOYS

import regard
from regard.base.progress import silent
from regard.cli import main
from regard.families import FAMILIES, check_recipe
from regard.model import Model
from regard.promises.asking import ASKED, check_same, plain
from regard.protocols import Learns
from regard.runs.open import Run, open_run
from regard.runs.train import train
from regard.training.checkpoint import WEIGHTS, bytes_to_weights
from regard.training.events import Counted, Event, Hurried, Stepped
from regard.training.snapshot import load_weights

pytestmark = pytest.mark.usefixtures("no_curves")
GPU = "cuda"


def open_on(device: str, toy: str, folder: Path) -> Run:
    """Open the run of a toy that trains on this device; counting tasks have no device.

    A GPU reads losses, and so notices a request to stop, at every tenth step.
    """
    table, family = TOYS[toy].table(folder), TOYS[toy].family or toy
    if FAMILIES[family].learns == "gradient":
        table["training"] = table["training"] | {"device": device, "steps": 16, "validate_every": 12, "save_every": 12}
    recipe = check_recipe(table | {"family": family, "seed": 3})
    return open_run(recipe, folder / "run", True, silent, lambda remark: None)


def on(device: str, batch: Any) -> Any:
    """Return a batch of a run on the GPU for a task on this device."""
    return batch if device == GPU else on_the_cpu(batch)


def on_the_cpu(batch: Any) -> Any:
    """Return a batch with all its tensors on the CPU; its own method only moves from the host to a GPU."""
    if isinstance(batch, Tensor):
        return batch.cpu()
    if is_dataclass(batch) and not isinstance(batch, type):
        moved = copy(batch)
        for field in fields(batch):
            object.__setattr__(moved, field.name, on_the_cpu(getattr(batch, field.name)))
        return moved
    if isinstance(batch, list | tuple):
        parts = [on_the_cpu(part) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    if isinstance(batch, dict):
        return {name: on_the_cpu(value) for name, value in batch.items()}
    return batch


def weights_of(run: Path) -> dict[str, Tensor]:
    return bytes_to_weights((run / WEIGHTS).read_bytes(), WEIGHTS)


@pytest.fixture(params=TOYS, scope="module")
def toy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(toy: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return the toy of a family, trained on the GPU."""
    run = open_on(GPU, toy, tmp_path_factory.mktemp(toy.replace(" ", "-")))
    with undrawn():
        assert train(run, []).finished
    return run


@pytest.fixture(scope="module")
def folder(run: Run) -> Path:
    return run.folder.folder


@pytest.fixture(scope="module")
def models(folder: Path) -> tuple[Model, Model]:
    """Return the trained model on the CPU and on the GPU."""
    return regard.load(folder, device="cpu"), regard.load(folder, device=GPU)


def test_it_trains_on_the_gpu_and_resumed_is_never_stopped(toy: str, run: Run, folder: Path, tmp_path: Path) -> None:
    """Bit for bit, even with a stop between two checkpoints."""
    if isinstance(run.task, nn.Module):
        assert next(run.task.parameters()).is_cuda

    def stop(event: Event) -> str | None:
        return Hurried("enough") if isinstance(event, Stepped | Counted) and event.step % 2 == 0 else None

    assert not train(open_on(GPU, toy, tmp_path), [stop]).finished
    assert train(open_on(GPU, toy, tmp_path), []).finished
    whole, resumed = weights_of(folder), weights_of(tmp_path / "run")
    assert whole.keys() == resumed.keys()
    assert [name for name in whole if not torch.equal(whole[name], resumed[name])] == []


def test_losses_and_gradients_are_those_of_a_cpu(toy: str, run: Run, folder: Path) -> None:
    if not isinstance(run.task, Learns) or TOYS[toy].draws:
        pytest.skip("it has no loss, or one that draws random numbers")
    batch = next(iter(run.task.batches("train", 3, 0, 0)))
    results = []
    for device in ("cpu", GPU):
        task = deepcopy(run.task).to(device).eval()
        load_weights(task, weights_of(folder))
        task.zero_grad()
        with torch.backends.cudnn.flags(enabled=False):  # its recurrent layers have gradients in training only
            loss = task.loss(on(device, batch))
            loss.total.backward()
        gradients = {name: weight.grad.cpu() for name, weight in task.named_parameters() if weight.grad is not None}
        results.append((loss.total.item(), float(loss.count), gradients))
    (cpu, cpu_count, cpu_gradients), (gpu, gpu_count, gpu_gradients) = results
    assert (gpu, gpu_count) == (pytest.approx(cpu, rel=1e-4), cpu_count)
    assert gpu_gradients.keys() == cpu_gradients.keys()
    largest = max(float(gradient.abs().max()) for gradient in cpu_gradients.values())
    for name, gradient in cpu_gradients.items():
        torch.testing.assert_close(gpu_gradients[name], gradient, rtol=1e-3, atol=1e-4 * max(largest, 1e-3), msg=name)


def test_measures_are_those_of_a_cpu(run: Run, models: tuple[Model, Model]) -> None:
    with torch.no_grad():
        for batch in run.task.batches("valid", 0, 0, 0):
            cpu, gpu = (
                {name: plain(measure.tally.sums) for name, measure in model.task.measure(on(device, batch)).items()}
                for device, model in zip(("cpu", GPU), models, strict=True)
            )
            assert gpu.keys() == cpu.keys()
            if run.recipe.family not in DRAWN:
                check_same(gpu, cpu)


def test_every_verb_answers_as_on_a_cpu(toy: str, folder: Path, models: tuple[Model, Model]) -> None:
    inputs = inputs_of(toy, models[0].recipe.task, folder.parent)
    verbs = [verb for verb in models[0].verbs if verb in ASKED]
    assert verbs
    for verb in verbs:
        cpu, gpu = (plain(ASKED[verb](model, inputs)) for model in models)
        assert cpu
        if models[0].recipe.family not in DRAWN:
            check_same(gpu, cpu, verb)


def test_the_commands_work_on_the_gpu(
    toy: str, folder: Path, models: tuple[Model, Model], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scores, facts, heads and attention of a model that the command line itself loads onto the GPU."""
    model, _ = models
    item, _ = inputs_of(toy, model.recipe.task, folder.parent)
    if model.recipe.task == "answering":  # a story is read from a file
        (tmp_path / "story.txt").write_text(item, encoding="utf-8")
        item = str(tmp_path / "story.txt")
    assert main(["info", str(folder)]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(folder), "--split", "valid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]
    if "heads" in model.verbs:
        assert main(["heads", str(folder)]) == 0
    if "look" in model.verbs:
        assert main(["look", str(folder), item, "-o", str(tmp_path / "look.json")]) == 0
        assert (tmp_path / "look.json").exists()
    if {"translate", "generate"} & set(model.verbs) and "look" in model.verbs:
        assert main(["look", str(folder), item, "--next"]) == 0
    assert "Traceback" not in capsys.readouterr().err
