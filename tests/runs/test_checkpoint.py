"""The model folder: complete at every moment, and refused when it is not."""

import errno
import json
import os
import random
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from regard.base import model_folder as folder_files
from regard.base.faults import Fault
from regard.training import checkpoint
from regard.training.checkpoint import MANIFEST, WEIGHTS, RunFolder, checked_meanwhile, read_folder, update_folder
from regard.training.snapshot import Facts, Snapshot, Validation
from regard.verbs.translate.model import load_translation_model


def snapshot(step: int, value: float = 0.0) -> Snapshot:
    return Snapshot({"weights": {"w": torch.full((3,), value)}, "optimizer": {"0.m": torch.ones(2)}}, Facts(step=step))


@pytest.fixture
def model_folder(trained: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    shutil.copytree(trained, folder, ignore=shutil.ignore_patterns("training"))
    return folder


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    assert run.latest() is None
    run.save(snapshot(0))
    run.save(snapshot(7, 1.5))
    checkpoint = run.latest()
    assert checkpoint is not None
    assert checkpoint.facts == Facts(step=7)
    assert checkpoint.tensors["weights"]["w"].tolist() == [1.5] * 3
    assert checkpoint.tensors["optimizer"].keys() == {"0.m"}


def test_old_checkpoints_are_thinned_out(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, keep=3, every=10)
    for step in (0, 10, 20, 25, 30, 40, 50):
        run.save(snapshot(step, float(step)))
    assert run.steps() == [30, 40, 50]
    assert (run.checkpoints / "00000040" / "optimizer.safetensors").exists()
    assert not (run.checkpoints / "00000030" / "optimizer.safetensors").exists()
    assert run.average(3)["w"].tolist() == [40.0] * 3
    assert run.average(2)["w"].tolist() == [45.0] * 3


def test_steps_where_a_run_stopped_fill_up_what_is_asked_for_and_no_more(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, every=500)
    for step in (0, 500, 512, 786):
        run.save(snapshot(step, float(step)))
    assert [run.last_steps(last) for last in (1, 2, 3, 9)] == [[500], [500, 786], [500, 512, 786], [500, 512, 786]]
    run.save(snapshot(1000))
    run.save(snapshot(1010))
    assert run.last_steps(2) == [500, 1000]


def test_without_a_regular_checkpoint_the_newest_weights_are_the_mean(tmp_path: Path) -> None:
    """The same holds when patience ends a run early, wherever it had been stopped before."""
    remarks: list[str] = []
    run = RunFolder(tmp_path, every=500, remark=remarks.append)
    for step in (0, 12, 30):
        run.save(snapshot(step, float(step)))
    assert run.average(5)["w"].tolist() == [30.0] * 3
    assert remarks == ["the run ended before its first checkpoint at step 500, so there is no mean to take"]


def test_a_checkpoint_of_another_run_is_refused_by_name(tmp_path: Path) -> None:
    one, other = RunFolder(tmp_path / "one"), RunFolder(tmp_path / "other")
    for run in (one, other):
        run.begin()
        run.save(snapshot(3))
    for step in (5, 8, 9):
        one.save(snapshot(step))
    for stray in ("00000005", "00000009"):  # weights alone, and one to resume from
        shutil.copytree(one.checkpoints / stray, other.checkpoints / stray)
    for ask in (other.latest, other.facts, lambda: other.mean_of([3, 9]), lambda: other.mean_of([3, 5])):
        with pytest.raises(Fault, match=r"other/training/checkpoints/0000000[59] belongs to another run than"):
            ask()
    checkpoint = one.latest()
    assert checkpoint is not None
    assert checkpoint.facts.step == 9


def test_a_run_without_its_name_says_where_the_name_still_is(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.begin()
    run.save(snapshot(3))
    mark = tmp_path / "training" / "run.txt"
    mark.write_bytes(b"")
    for ask in (run.latest, run.facts, lambda: run.save(snapshot(4))):
        with pytest.raises(
            Fault, match=r"run\.txt is empty, .* Put the run\.txt of one of the run's checkpoints there"
        ):
            ask()
    shutil.copy(run.checkpoints / "00000003" / "run.txt", mark)
    assert run.facts() == Facts(step=3)


def test_checkpoints_of_older_versions_know_no_run(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.save(snapshot(3))
    run.training.joinpath("run.txt").write_bytes(b"This folder is a run of regard.\n")
    assert run.facts() == Facts(step=3)
    run.save(snapshot(4))
    assert run.facts() == Facts(step=4)


@pytest.mark.parametrize("moment", range(12))
def test_a_kill_at_any_moment_of_a_save_leaves_a_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """Every call that touches the disk is in turn the last one to happen."""
    run = RunFolder(tmp_path)
    run.save(snapshot(1, 1.0))

    class Killed(BaseException):
        pass

    def die_at(count: list[int], real):
        def call(*arguments, **options):
            count[0] += 1
            if count[0] > moment:
                raise Killed
            return real(*arguments, **options)

        return call

    count = [0]
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", die_at(count, os.fsync))
        patch.setattr(Path, "replace", die_at(count, Path.replace))
        patch.setattr(Path, "rename", die_at(count, Path.rename))
        patch.setattr(shutil, "rmtree", die_at(count, shutil.rmtree))
        with suppress(Killed):
            run.save(snapshot(2, 2.0))
    checkpoint = RunFolder(tmp_path).latest()
    assert checkpoint is not None
    assert checkpoint.tensors["weights"]["w"].tolist() == [float(checkpoint.facts.step)] * 3
    RunFolder(tmp_path).save(snapshot(3, 3.0))  # and leftovers do not disturb the next save
    assert RunFolder(tmp_path).latest().facts.step == 3


@pytest.mark.parametrize("moment", range(8))
def test_a_kill_while_publishing_leaves_a_model_that_loads(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    class Killed(BaseException):
        pass

    real, count = Path.replace, [0]

    def replace(self: Path, target: Path) -> Path:
        count[0] += 1
        if count[0] > moment:
            raise Killed
        return real(self, target)

    weights = {name: torch.zeros_like(t) for name, t in _weights(model_folder).items()}
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with suppress(Killed):
            RunFolder(model_folder).publish(weights, Validation({}))
    load_translation_model(model_folder)


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return checkpoint.bytes_to_weights((folder / WEIGHTS).read_bytes(), WEIGHTS)


def test_a_flipped_bit_anywhere_is_refused_with_the_name_of_its_file(model_folder: Path) -> None:
    chance = random.Random(5)
    names = [path.name for path in model_folder.iterdir() if path.name in read_folder(model_folder)]
    assert {"recipe.toml", "scores.json", "tokeniser.model", WEIGHTS} <= set(names)
    for _ in range(60):
        path = model_folder / chance.choice(names)
        good = path.read_bytes()
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(bad))
        with pytest.raises(Fault, match=f"{path.name} is damaged"):
            load_translation_model(model_folder)
        path.write_bytes(good)


def test_truncated_and_missing_files_are_refused(model_folder: Path) -> None:
    path = model_folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(Fault, match=r"weights\.safetensors is damaged"):
        load_translation_model(model_folder)
    path.unlink()
    with pytest.raises(Fault, match=r"weights\.safetensors is missing"):
        load_translation_model(model_folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"files": 3}', '{"files": {"a": "b"}}', "[" * 100_000])
def test_a_damaged_manifest_is_refused(model_folder: Path, content: str) -> None:
    (model_folder / MANIFEST).write_text(content)
    with pytest.raises(Fault, match=r"manifest\.json is damaged"):
        load_translation_model(model_folder)


def test_what_is_no_model_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="There is no model folder at"):
        load_translation_model(tmp_path / "nothing")
    with pytest.raises(Fault, match=r"is not a model folder: it has no manifest\.json"):
        load_translation_model(tmp_path)


def test_a_manifest_cannot_reach_outside(model_folder: Path) -> None:
    (model_folder.parent / "secret").write_text("x")
    manifest = json.loads((model_folder / MANIFEST).read_text())
    manifest["files"]["../secret"] = ["0"]
    (model_folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(Fault, match="outside the folder"):
        load_translation_model(model_folder)


def test_weights_of_another_shape_are_refused(model_folder: Path) -> None:
    weights = _weights(model_folder)
    name = next(iter(weights))
    for changed, words in (({name: torch.zeros(2, 2)}, "has shape"), ({}, "has no")):
        others = {key: tensor for key, tensor in weights.items() if key != name} | changed
        update_folder(model_folder, {WEIGHTS: checkpoint.weights_to_bytes(others)})
        with pytest.raises(Fault, match=words):
            load_translation_model(model_folder)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(model_folder: Path, bad: float) -> None:
    weights = _weights(model_folder)
    next(iter(weights.values()))[0] = bad
    update_folder(model_folder, {WEIGHTS: checkpoint.weights_to_bytes(weights)})
    with pytest.raises(Fault, match="holds a value that is not a finite number"):
        load_translation_model(model_folder)


@pytest.mark.parametrize(
    ("width", "words"),
    [(65_536, "but its recipe needs"), (16_000_000, r"recipe\.toml: model\.width is 16000000, expected")],
)
def test_a_recipe_that_asks_for_the_moon_is_refused(model_folder: Path, width: int, words: str) -> None:
    text = (model_folder / "recipe.toml").read_text(encoding="utf-8").replace("width = 16", f"width = {width}")
    update_folder(model_folder, {"recipe.toml": text.encode()})
    with pytest.raises(Fault, match=words):
        load_translation_model(model_folder)


@pytest.mark.parametrize(
    "facts", [b"", b"[]", b"[" * 100_000, b'{"step": "one"}', b'{"losses": [1]}', b'{"step": ' + b"9" * 5000 + b"}"]
)
def test_damaged_facts_are_refused_by_name(model_folder: Path, facts: bytes) -> None:
    run = RunFolder(model_folder)
    update_folder(run.checkpoints / "00000004", {"facts.json": facts})
    with pytest.raises(Fault, match=r"facts\.json is damaged: it does not hold the facts of a run"):
        run.latest()
    assert run.facts() is None


def test_what_the_manifest_does_not_vouch_for_is_refused(model_folder: Path) -> None:
    manifest = json.loads((model_folder / MANIFEST).read_text())
    del manifest["files"]["tokeniser.model"]
    (model_folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(Fault, match="so it cannot be trusted"):
        load_translation_model(model_folder)


def test_a_link_out_of_the_folder_is_refused(model_folder: Path) -> None:
    outside = model_folder.parent / "outside.toml"
    (model_folder / "recipe.toml").rename(outside)
    (model_folder / "recipe.toml").symlink_to(outside)
    with pytest.raises(Fault, match="outside the folder"):
        load_translation_model(model_folder)


def test_a_linked_manifest_is_refused(model_folder: Path) -> None:
    outside = model_folder.parent / "outside.json"
    (model_folder / MANIFEST).rename(outside)
    (model_folder / MANIFEST).symlink_to(outside)
    with pytest.raises(Fault, match=r"manifest\.json is a link"):
        load_translation_model(model_folder)


@pytest.mark.parametrize("name", [MANIFEST, WEIGHTS, "recipe.toml", "tokeniser.model"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(model_folder: Path, name: str) -> None:
    (model_folder / name).unlink()
    os.mkfifo(model_folder / name)
    with pytest.raises(Fault, match=rf"{name} is missing or cannot be read: it is a device, a pipe or a folder"):
        load_translation_model(model_folder)


def test_files_are_checked_while_something_is_made_of_them(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, checksum = threading.Event(), folder_files.checksum

    def patient_checksum(content: bytes) -> str:
        assert inside.wait(10)  # would wait in vain if the files were checked before the block
        return checksum(content)

    monkeypatch.setattr(folder_files, "checksum", patient_checksum)
    with checked_meanwhile(model_folder) as files:
        inside.set()
    assert WEIGHTS in files


def test_damage_is_told_whatever_came_of_the_damaged_file(model_folder: Path) -> None:
    (model_folder / WEIGHTS).write_bytes(b"no tensors")
    with pytest.raises(Fault, match=r"weights\.safetensors is damaged"), checked_meanwhile(model_folder) as files:
        checkpoint.bytes_to_weights(files[WEIGHTS], WEIGHTS)
    with pytest.raises(Fault, match=r"weights\.safetensors is damaged"), checked_meanwhile(model_folder):
        pass


def test_weights_are_a_function_of_the_weights_alone(model_folder: Path) -> None:
    weights = _weights(model_folder)
    backwards = dict(reversed(weights.items()))
    assert checkpoint.weights_to_bytes(weights) == checkpoint.weights_to_bytes(backwards)
    assert checkpoint.weights_to_bytes(weights) == (model_folder / WEIGHTS).read_bytes()


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(tmp_path)
    run.save(snapshot(1, 1.0))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Fault, match="The disk is full"):
        run.save(snapshot(2, 2.0))
    assert run.latest().facts.step == 1
    assert [path.name for path in run.checkpoints.iterdir()] == ["00000001"]


def test_a_damaged_newest_checkpoint_is_passed_over(tmp_path: Path) -> None:
    remarks: list[str] = []
    run = RunFolder(tmp_path, remark=remarks.append)
    run.save(snapshot(1, 1.0))
    run.save(snapshot(2, 2.0))
    path = run.checkpoints / "00000002" / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    assert run.latest().facts.step == 1
    assert run.facts() == Facts(step=2)
    (run.checkpoints / "00000002" / "manifest.json").write_text("{")
    assert run.latest().facts.step == 1
    assert run.facts() == Facts(step=1)
    assert "optimizer.safetensors is damaged" in remarks[0]
    run.save(snapshot(2, 2.5))
    assert run.latest().tensors["weights"]["w"].tolist() == [2.5] * 3


def test_nothing_is_pickled(trained: Path) -> None:
    for path in trained.rglob("*"):
        if path.is_file() and "tensorboard" not in path.parts:
            assert path.suffix not in {".pickle", ".pkl", ".pt", ".pth"}, path
            assert not path.read_bytes().startswith(b"\x80\x04"), path
