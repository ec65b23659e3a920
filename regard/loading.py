"""A trained model as it comes from its folder: a task with its weights, its recipe, and what there is to say of it."""

from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.files import refuse_oversized
from regard.base.model_folder import is_mapped
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

    folder: Path | None = None  # where it was loaded from, if it was

    def __init__(self, task: Any, recipe: Recipe) -> None:
        self.task, self.recipe = task, recipe
        if isinstance(task, nn.Module):
            task.eval()

    def take_files(self, files: Mapping[str, bytes], folder: Path) -> None:
        """Take what else the folder of a trained model says of it."""

    @property
    def verbs(self) -> list[str]:
        """Verbs that it has."""
        return verbs_of(self.recipe.family, self.recipe.task)

    @property
    def parameters(self) -> int:
        """Number of learnt values: weights, or the probabilities and back-off weights of n-grams."""
        if isinstance(self.task, nn.Module):
            return sum(parameter.numel() for parameter in self.task.parameters())
        return sum(tensor.numel() for tensor in self.task.weights().values() if tensor.is_floating_point())

    def facts(self) -> dict[str, Any]:
        """Facts by name: family, task, languages, size, and what its task knows of it."""
        return facts_of(self.recipe, self.parameters, self.task.facts() if isinstance(self.task, Describes) else {})

    def __repr__(self) -> str:
        facts = self.facts()
        task = " ".join(facts[name] for name in ("task", "languages") if name in facts)
        return f"<Model: {facts['family']}, {task}, {facts['parameters']:,} parameters; can {', '.join(self.verbs)}>"

    def _repr_html_(self) -> str:
        facts = self.facts() | {"can": ", ".join(self.verbs)}
        shown = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in facts.items()}
        return table([escape(name), escape(value)] for name, value in shown.items())

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """The parts of the network by name, so that `regard.watching(model)` can say who looks.

        A model that counts has none.
        """
        if not isinstance(self.task, nn.Module):
            return iter(())
        return self.task.get_submodule("model").named_modules()


AnyLoaded = TypeVar("AnyLoaded", bound=Loaded)


def build_task(recipe: Recipe, files: Mapping[str, bytes]) -> Any:
    """A new task as the recipe says, from what travels in a model folder; its weights are drawn from the seed."""
    torch.manual_seed(recipe.seed)
    return task_class(recipe).build(recipe, files)


def check_room(recipe: Recipe, files: Mapping[str, bytes]) -> None:
    """Refuse a model of which the weights alone would fill the memory of this machine, before any of it is made."""
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
    """Load a model folder, checking every file in it against its manifest, as what `kind` makes of task and recipe.

    A model that has not got this verb is refused before its weights are read.
    """
    if precision not in PRECISIONS:
        raise Fault(f"There is no precision '{precision}'; give {' or '.join(PRECISIONS)}.")
    folder = Path(folder)
    if is_mapped(folder):
        return kind(*_load_mapped(folder))
    recipe, own = open_folder(folder)
    if verb is not None:
        needs(recipe, verb)
    shapes = _shapes_of(recipe, own, folder)
    with checkpoint.checked_meanwhile(folder, [checkpoint.WEIGHTS]) as files:
        weights = checkpoint.bytes_to_weights(files[checkpoint.WEIGHTS], str(folder / checkpoint.WEIGHTS))
        task = _load_task(recipe, own, weights, shapes, folder)
    if isinstance(task, nn.Module):
        task = task.to(pick_device(device), PRECISIONS[precision])
    model = kind(task, recipe)
    model.take_files(own, folder)
    model.folder = folder
    return model


def _load_mapped(path: Path) -> tuple[Any, Recipe]:
    """Open an n-gram model that lies in one file, and return its task and its recipe."""
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
    """Load a model folder for a command, refused if it has not got this verb."""
    return load_as(Loaded, folder, device, verb=verb)


def _shapes_of(recipe: Recipe, files: Mapping[str, bytes], folder: Path) -> nn.Module | None:
    """Build the task of a recipe without its numbers; a file of weights that is far too large for it is refused.

    A task that keeps weights of its own kind has no shapes to know beforehand.
    """
    kind = task_class(recipe)
    if has(kind, OwnWeights):
        return None
    try:
        with ShapesOnly():  # a recipe may ask for more memory than there is: look before making room for it
            unbuilt = kind.build(recipe, files)
    except RuntimeError as error:
        raise Fault(f"The model that {folder / checkpoint.RECIPE} asks for cannot be built: {error}.") from None
    needed = sum(tensor.numel() * tensor.itemsize for tensor in named_weights(unbuilt).values())
    refuse_oversized(folder / checkpoint.WEIGHTS, needed)
    return cast(nn.Module, unbuilt)


def _load_task(
    recipe: Recipe, files: Mapping[str, bytes], weights: dict[str, Tensor], unbuilt: nn.Module | None, folder: Path
) -> Any:
    """Build the task of a recipe with these weights, refused if they are not those that it asks for."""
    if unbuilt is None:
        task = task_class(recipe).build(recipe, files)
        task.load_weights(weights)
        return task
    check_weights(unbuilt, weights, folder / checkpoint.WEIGHTS)
    with Unfilled():
        task = build_task(recipe, files)
    load_weights(task, weights)
    return task
