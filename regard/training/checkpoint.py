"""The weights of a model folder, and the run stored in one: its checkpoints and the weights it publishes."""

import io
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex

import torch
from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.model_folder import (
    ABOUT,
    CERTAINTY,
    MANIFEST,
    RECIPE,
    SCORES,
    WEIGHTS,
    checked_meanwhile,
    is_whole,
    read_folder,
    read_manifest,
    read_recipe,
    scores_to_bytes,
    update_folder,
    write_manifest,
)
from regard.base.tensors import read_shapes
from regard.training.snapshot import Facts, Snapshot, Validation

__all__ = [
    "ABOUT",
    "CERTAINTY",
    "MANIFEST",
    "RECIPE",
    "SCORES",
    "WEIGHTS",
    "RunFolder",
    "bytes_to_weights",
    "checked_meanwhile",
    "read_folder",
    "read_manifest",
    "read_recipe",
    "scores_to_bytes",
    "update_folder",
    "weights_to_bytes",
]

MARK = "run.txt"  # identifies a run, in its folder `training` and in its checkpoints
FACTS = "facts.json"  # of a checkpoint: the facts of the run
FULL_CHECKPOINTS = 2  # checkpoints kept with everything that resuming needs; older ones keep only their weights


def weights_to_bytes(tensors: Mapping[str, Tensor]) -> bytes:
    """Return tensors as safetensors: a function of the tensors alone."""
    return tensors_to_bytes({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})


def bytes_to_weights(content: bytes, name: str) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, whose content need not be trusted."""
    read_shapes(io.BytesIO(content), name)
    try:
        return load_tensors(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise Fault(f"{name} does not hold tensors: {error}.") from None


def _facts(content: bytes, folder: Path) -> Facts:
    try:
        return TypeAdapter(Facts).validate_json(content, strict=True)
    except ValidationError:
        raise Fault(f"{folder / FACTS} is damaged: it does not hold the facts of a run.") from None


class Stray(Fault):
    """A checkpoint that belongs to another run, or whose run has lost its name."""


class RunFolder:
    """A model folder in which training goes on: the keeper of a run."""

    def __init__(
        self, folder: Path, keep: int = 5, every: int = 1, remark: Callable[[str], None] = lambda text: None
    ) -> None:
        self.folder, self.keep, self.every, self.remark = folder, keep, every, remark
        self.training = folder / "training"
        self.checkpoints = self.training / "checkpoints"

    def exists(self) -> bool:
        return (self.folder / RECIPE).exists()

    def is_ours(self) -> bool:
        """Return True if a run was started here: it leaves a mark before anything else."""
        return (self.training / MARK).is_file()

    def begin(self) -> None:
        """Mark the folder as a run; refuse a folder that holds anything else."""
        self.refuse_others()
        if not self.is_ours():
            self.training.mkdir(parents=True, exist_ok=True)
            write_file(self.training / MARK, f"This folder is a run of regard.\nIts name is {token_hex(8)}.\n".encode())

    def remove(self) -> None:
        """Make room for another run; refuse a folder that is not a run of regard."""
        self.refuse_others("is not a run of regard, so it is not overwritten")
        if self.folder.exists() and any(self.folder.iterdir()):
            shutil.rmtree(self.folder.resolve())

    def refuse_others(self, why: str = "exists and is not a run of regard") -> None:
        """Refuse a file, and a folder that holds anything but a run of regard."""
        if self.folder.exists() and not self.folder.is_dir():
            raise Fault(f"{self.folder} is a file. Name a folder for the run.")
        if self.folder.exists() and any(self.folder.iterdir()) and not self.is_ours():
            if (self.folder / MANIFEST).is_file():
                raise Fault(
                    f"{self.folder} holds a model without its training, so it can be neither resumed nor replaced. To "
                    f"train it further, give --from {self.folder} and another --out."
                )
            raise Fault(f"{self.folder} {why}. Choose another --out.")

    def refuse_run(self) -> None:
        """Refuse a folder that holds a run, where another is to start."""
        if self.exists():
            raise Fault(
                f"{self.folder} already holds a run. Give --resume to continue it or --overwrite to replace it."
            )

    def clear(self) -> None:
        """Leave an empty folder where a run was to start."""
        shutil.rmtree(self.training)

    def steps(self) -> list[int]:
        """Return the steps of the checkpoints, oldest first."""
        if not self.checkpoints.is_dir():
            return []
        return sorted(int(path.name) for path in self.checkpoints.iterdir() if path.name.isdigit())

    def regular_steps(self) -> list[int]:
        """Return the steps at which every run of this recipe saves, without those added by interruptions."""
        return [step for step in self.steps() if step > 0 and step % self.every == 0]

    def save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint under another name and rename it, then thin out the older ones."""
        final = self._checkpoint(snapshot.facts.step)
        files = {f"{group}.safetensors": weights_to_bytes(tensors) for group, tensors in snapshot.tensors.items()}
        files[FACTS] = json.dumps(asdict(snapshot.facts)).encode()
        if mark := self._mark():
            files[MARK] = mark
        if final.exists() and is_whole(final):  # the end of a run, at a step that was already saved
            update_folder(final, files)
        else:
            beside = final.with_name(f"{final.name}.partial")
            for leftover in (final, *self.checkpoints.glob("*.partial")):
                shutil.rmtree(leftover, ignore_errors=True)
            try:
                update_folder(beside, files)
                beside.rename(final)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        self._thin_out()

    def _thin_out(self) -> None:
        """Keep the newest checkpoints whole, the weights of `keep` in all, and nothing of the rest."""
        kept_steps = self.regular_steps()[-self.keep :]
        for step in self.steps()[:-FULL_CHECKPOINTS]:
            folder = self._checkpoint(step)
            if step not in kept_steps:
                shutil.rmtree(folder, ignore_errors=True)
            elif (folder / FACTS).exists() and is_whole(folder):
                files = read_manifest(folder)
                remaining = files.keys() & {WEIGHTS, MARK}
                write_manifest(folder, {name: files[name] for name in remaining})
                for name in files.keys() - remaining:
                    (folder / name).unlink(missing_ok=True)

    def latest(self) -> Snapshot | None:
        """Return the newest complete checkpoint; skip damaged ones."""
        trouble: Fault | None = None
        for step in reversed(self.steps()):
            try:
                return self._load(step)
            except Stray:
                raise
            except Fault as fault:
                trouble = trouble or fault
                self.remark(f"{fault} Going back to an older checkpoint.")
        if trouble:
            raise trouble
        return None

    def facts(self) -> Facts | None:
        """Return the facts of the newest readable checkpoint, without reading its tensors."""
        for step in reversed(self.steps()):
            try:
                return _facts(self._read(step, [FACTS])[FACTS], self._checkpoint(step))
            except Stray:
                raise
            except Fault:
                continue
        return None

    def _read(self, step: int, names: list[str] | None = None) -> dict[str, bytes]:
        """Read the named files (or all) of a checkpoint; refuse one of another run."""
        folder, mark = self._checkpoint(step), self._mark()
        has_mark = MARK in read_manifest(folder)  # older versions left none
        files = read_folder(folder, [*names, *([MARK] if has_mark else [])] if names else None)
        if files.pop(MARK, mark) != mark:
            raise Stray(f"{folder} belongs to another run than {self.folder}. Remove it to continue without it.")
        return files

    def _mark(self) -> bytes | None:
        file = self.training / MARK
        mark = file.read_bytes() if self.is_ours() else None
        if mark == b"":
            raise Stray(f"{file} is empty, so it names no run. Put the {MARK} of one of the run's checkpoints there.")
        return mark

    def _load(self, step: int) -> Snapshot:
        folder = self._checkpoint(step)
        files = self._read(step)
        if FACTS not in files:
            raise Fault(f"{folder} holds only weights, so a run cannot be resumed from it.")
        facts = _facts(files.pop(FACTS), folder)
        tensors = {name.split(".")[0]: bytes_to_weights(content, str(folder / name)) for name, content in files.items()}
        return Snapshot(tensors, facts)

    def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None:
        """Make these the weights of the model folder, with their validation scores."""
        scores = scores_to_bytes(validation.scores if validation else [])
        files = {WEIGHTS: weights_to_bytes(weights), SCORES: scores}
        if validation is not None and validation.certainty is not None:
            files[CERTAINTY] = validation.certainty
        update_folder(self.folder, files)

    def average(self, last: int) -> dict[str, Tensor]:
        """Return the mean of the weights of the last regular checkpoints, or the newest weights if there are none."""
        if not (steps := self.regular_steps()[-last:]):
            self.remark(f"the run ended before its first checkpoint at step {self.every}, so there is no mean to take")
        return self.mean_of(steps or self.steps()[-1:])

    def last_steps(self, last: int) -> list[int]:
        """Return the steps of the last regular checkpoints, and of the newest others if those are too few."""
        regular = self.regular_steps()[-last:]
        others = [step for step in self.steps() if step > 0 and step not in regular]
        return sorted([*regular, *others[max(0, len(others) + len(regular) - last) :]])

    def mean_of(self, steps: list[int]) -> dict[str, Tensor]:
        """Return the mean of the weights of the checkpoints at these steps."""
        sums: dict[str, Tensor] = {}
        for step in steps:
            weights = bytes_to_weights(self._read(step, [WEIGHTS])[WEIGHTS], str(self._checkpoint(step) / WEIGHTS))
            for name, tensor in weights.items():
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
        return {name: (total / len(steps)).to(torch.float32) for name, total in sums.items()}

    def _checkpoint(self, step: int) -> Path:
        return self.checkpoints / f"{step:08d}"
