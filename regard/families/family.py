"""A row of the table of families."""

from dataclasses import dataclass
from typing import Any

from regard.base.places import find_place
from regard.base.recipe import Options
from regard.tasks import TASKS, Learning, Way


@dataclass(frozen=True)
class Family:
    """One kind of model: what it is for, the paper that describes it, and where its code stands."""

    summary: str
    paper: str
    tasks: tuple[str, ...]  # that it can be trained for; the first is meant where a recipe names none
    module: str
    model: str
    options: str  # a name in the same module, or module:name where they are told without torch
    learns: Learning = "gradient"
    looks: bool = True  # whether its networks have attention, or something like it, that can be watched
    heads: bool = True  # and whether they look with heads that can be reported on, where their task can
    embeds: bool = True  # whether they have vectors of words to hand out, where their task can
    blind_for: tuple[str, ...] = ()  # tasks for which they have none all the same
    toy: str | None = None  # what `regard check-family` tries it on, as module:name of a Toy
    cost: str | None = None  # what finds the cost of an input by options and shapes of weights alone, without torch

    def load(self) -> tuple[type[Any], type[Options]]:
        """Return the model's class and its options' class; torch is imported here and not before."""
        return find_place(self.network), self.load_options()

    def load_options(self) -> type[Options]:
        """Return the class of its options; torch is imported only where they stand in the module of the network."""
        found: type[Options] = find_place(self.options if ":" in self.options else f"{self.module}:{self.options}")
        return found

    @property
    def network(self) -> str:
        """The place of the model's class, as module:name."""
        return f"{self.module}:{self.model}"

    def way(self, task: str) -> Way:
        """Return how it learns a task."""
        return TASKS[task].ways[self.learns]
