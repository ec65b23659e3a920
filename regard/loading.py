"""Load a trained model from its folder: a task with its weights, its recipe, and facts about it."""

from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.files import checksum, refuse_oversized
from regard.base.model_folder import is_mapped, read_manifest
from regard.base.notebook import table
from regard.base.parsing import parse_toml
from regard.base.recipe import Recipe, faults_of
from regard.families import check_recipe, task_class
from regard.families.abilities import has, needs, verbs_of
from regard.families.model_folder import facts_of, open_folder
from regard.hardware.devices import pick_device
from regard.models.shapes import ShapesOnly, Unfilled, refuse_too_large
from regard.protocols import Describes, OwnWeights
from regard.training import checkpoint
from regard.training.snapshot import check_weights, load_weights, named_weights


class Loaded:
    """A model with its task and its recipe."""

    folder: Path | None = None  # the folder it was loaded from, if any
    _weights_checksum: str | None = None  # of the weights file in that folder

    def __init__(self, task: Any, recipe: Recipe) -> None:
        self.task, self.recipe = task, recipe
        self.exports: dict[str, Any] = {}  # engines of the exports in its folder, by the choice that opened them
        if isinstance(task, nn.Module):
            task.eval()

    def take_files(self, files: Mapping[str, bytes], folder: Path) -> None:
        """Read further files of the model folder."""

    @property
    def verbs(self) -> list[str]:
        """The verbs that it has."""
        return verbs_of(self.recipe.family, self.recipe.task)

    @property
    def parameters(self) -> int:
        """Number of learnt values: weights, or the probabilities and back-off weights of n-grams."""
        if isinstance(self.task, nn.Module):
            return sum(parameter.numel() for parameter in self.task.parameters())
        return sum(tensor.numel() for tensor in self.task.weights().values() if tensor.is_floating_point())

    @property
    def fingerprint(self) -> str | None:
        """Checksum of its weights file, or of the file that they would make; None for a model without a network."""
        if self._weights_checksum is None and isinstance(self.task, nn.Module):
            self._weights_checksum = checksum(checkpoint.weights_to_bytes(named_weights(self.task)))
        return self._weights_checksum

    def facts(self) -> dict[str, Any]:
        """Return facts by name: family, task, languages, size, and those of its task."""
        return facts_of(self.recipe, self.parameters, self.task.facts() if isinstance(self.task, Describes) else {})

    def __repr__(self) -> str:
        facts = self.facts()
        task = " ".join(facts[name] for name in ("task", "languages") if name in facts)
        return f"<Model: {facts['family']}, {task}, {facts['parameters']:,} parameters; can {', '.join(self.verbs)}>"

    def _repr_html_(self) -> str:
        facts = self.facts() | {"can": ", ".join(self.verbs)}
        values = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in facts.items()}
        return table([escape(name), escape(value)] for name, value in values.items())

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """Return the parts of the network by name, so that `regard.watching(model)` can name them.

        An n-gram model has none.
        """
        if not isinstance(self.task, nn.Module):
            return iter(())
        return self.task.get_submodule("model").named_modules()


AnyLoaded = TypeVar("AnyLoaded", bound=Loaded)


def build_task(recipe: Recipe, files: Mapping[str, bytes]) -> Any:
    """Build a new task from a recipe and the files of a model folder; its weights are random, by the seed."""
    torch.manual_seed(recipe.seed)
    return task_class(recipe).build(recipe, files)


def check_room(recipe: Recipe, files: Mapping[str, bytes]) -> None:
    """Refuse a model whose weights alone would fill this machine's memory, before any of it is built."""
    with ShapesOnly():
        task = task_class(recipe).build(recipe, files)
    if isinstance(task, nn.Module):
        refuse_too_large(task)


PRECISIONS = {"float32": torch.float32, "bf16": torch.bfloat16}


def load_as(
    kind: Callable[[Any, Recipe], AnyLoaded],
    folder: str | Path,
    device: str = "auto",
    precision: str = "float32",
    verb: str | None = None,
) -> AnyLoaded:
    """Load a model folder, checking every file against its manifest; `kind` makes the result from task and recipe.

    A model that lacks the verb is refused before its weights are read.
    """
    if precision not in PRECISIONS:
        raise Fault(f"There is no precision '{precision}'; give {' or '.join(PRECISIONS)}.")
    folder = Path(folder)
    if is_mapped(folder):
        return kind(*_load_mapped(folder))
    recipe, own_files = open_folder(folder)
    if verb is not None:
        needs(recipe, verb)
    shapes = _shapes_of(recipe, own_files, folder)
    with checkpoint.checked_meanwhile(folder, [checkpoint.WEIGHTS]) as files:
        weights = checkpoint.bytes_to_weights(files[checkpoint.WEIGHTS], str(folder / checkpoint.WEIGHTS))
        task = _load_task(recipe, own_files, weights, shapes, folder)
    if isinstance(task, nn.Module):
        task = task.to(pick_device(device), PRECISIONS[precision])
    model = kind(task, recipe)
    model.take_files(own_files, folder)
    model.folder = folder
    sums = read_manifest(folder)[checkpoint.WEIGHTS]
    model._weights_checksum = sums[0] if len(sums) == 1 else None  # two while training replaces the weights
    return model


def _load_mapped(path: Path) -> tuple[Any, Recipe]:
    """Open an n-gram model in a single file, and return its task and recipe."""
    from regard.models.ngram.mapped import open_mapped

    mapped = open_mapped(path)
    with faults_of(path):
        recipe = check_recipe(parse_toml(mapped.recipe, str(path)))
    if recipe.family != "ngram":
        raise Fault(f"{path} is damaged: its recipe is not that of an n-gram model; export the model again.")
    task = task_class(recipe).build(recipe, mapped.files)
    task.map_weights(mapped.model, mapped.check)
    return task, recipe


def load_able(folder: str | Path, verb: str, device: str = "auto") -> Loaded:
    """Load a model folder for a command; refuse a model that lacks the verb."""
    return load_as(Loaded, folder, device, verb=verb)


def _shapes_of(recipe: Recipe, files: Mapping[str, bytes], folder: Path) -> nn.Module | None:
    """Build the task of a recipe without allocating its weights; refuse a weights file that is far too large for it.

    Return None for a task with its own kind of weights, whose shapes are not known beforehand.
    """
    kind = task_class(recipe)
    if has(kind, OwnWeights):
        return None
    try:
        with ShapesOnly():  # a recipe may ask for more memory than there is, so check before allocating
            skeleton = kind.build(recipe, files)
    except RuntimeError as error:
        raise Fault(f"The model that {folder / checkpoint.RECIPE} asks for cannot be built: {error}.") from None
    needed = sum(tensor.numel() * tensor.itemsize for tensor in named_weights(skeleton).values())
    refuse_oversized(folder / checkpoint.WEIGHTS, needed)
    return cast(nn.Module, skeleton)


def _load_task(
    recipe: Recipe, files: Mapping[str, bytes], weights: dict[str, Tensor], skeleton: nn.Module | None, folder: Path
) -> Any:
    """Build the task of a recipe with these weights; refuse weights that do not match."""
    if skeleton is None:
        task = task_class(recipe).build(recipe, files)
        task.load_weights(weights)
        return task
    check_weights(skeleton, weights, folder / checkpoint.WEIGHTS)
    with Unfilled():
        task = build_task(recipe, files)
    load_weights(task, weights)
    return task
