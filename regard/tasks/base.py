"""Shared by tasks: build a network from its recipe, and hold its device and its material."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import nn

from regard.base.places import find_place
from regard.base.recipe import Recipe
from regard.models.shapes import ShapesOnly, refuse_too_large

Files = Mapping[str, bytes]  # of a model folder, by name
Material = TypeVar("Material")


def network_class(recipe: Recipe) -> type[Any]:
    """Return the class of the network that a recipe names."""
    return find_place(recipe.network)


def build_network(recipe: Recipe, *sizes: Any) -> Any:
    """Build the network of a recipe with the sizes that come from data."""
    return network_class(recipe)(recipe.model, *sizes)


def check_size(recipe: Recipe, *sizes: Any) -> None:
    """Refuse a network that is too large before its data is read; `sizes` are the smallest possible."""
    with ShapesOnly():
        refuse_too_large(build_network(recipe, *sizes))


@dataclass(frozen=True)
class NothingPrepared:
    """Prepared data of a task that generates its examples on demand: a sentence about them, and no files."""

    about: str

    @property
    def report(self) -> list[str]:
        return [self.about]

    def files(self) -> dict[str, bytes]:
        return {}


class NetworkTask(nn.Module, Generic[Material]):
    """A network and the material it learns from."""

    measured_rows: ClassVar[int] = 500  # of a batch for measuring only
    training_options: Any

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self._material: Material | None = None

    @property
    def device(self) -> torch.device:
        """The device of the network."""
        return next(self.model.parameters()).device

    @property
    def material(self) -> Material:
        """The material to learn from and measure on, once there is any."""
        if self._material is None:
            raise RuntimeError(f"{type(self).__name__} has no batches before it learns from data")
        return self._material

    def learn_from(self, prepared: Any, recipe: Any) -> None:
        """Set the prepared material to learn from."""
        self._material = prepared

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Any]:
        """Yield the batches of an epoch from `start` on, on the network's device."""
        rows = self.training_options.batch if split == "train" else self.measured_rows
        for batch in self.host_batches(split, rows, seed, epoch, start):
            yield batch.to(self.device)

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[Any]:
        """Yield the same batches on the host, with `rows` rows each; not needed by tasks that override `batches`."""
        raise NotImplementedError(f"{type(self).__name__} defines neither batches nor host_batches")

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of an answer to an input of this size."""
        return {"multiplications": self.model.multiplications(size)}


class MembersTask(NetworkTask[Material]):
    """A task whose network is a stack of members, with different seeds or restarts, trained side by side."""

    MEMBERS: ClassVar[str] = "members"  # their name for people

    def __init__(self, model: Any, members: int = 1) -> None:
        super().__init__(model)
        self.members = members

    def outline(self, recipe: Any) -> list[str]:
        """Return a line on how many members are trained side by side; none for a single one."""
        seeds = member_seeds(recipe)
        return [f"{len(seeds)} {self.MEMBERS} side by side, seeds {seeds[0]} to {seeds[-1]}"] if len(seeds) > 1 else []


def member_seeds(recipe: Recipe) -> range:
    """Return the seed of each member: the recipe's, and those that follow it."""
    return range(recipe.seed, recipe.seed + recipe.training.members)


def mean_of(members: int, name: str = "members") -> str:
    """Return the prefix of a measure's signature if it is the mean of several members."""
    return f"mean of {members} {name}|" if members > 1 else ""
