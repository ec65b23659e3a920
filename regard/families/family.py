"""A row of the table of families."""

from dataclasses import dataclass
from typing import Any

from regard.base.places import find_place
from regard.base.recipe import Options
from regard.tasks import TASKS, Learning, Way


@dataclass(frozen=True)
class Family:
    """One kind of model: its purpose, the paper that describes it, and where its code is."""

    summary: str
    paper: str
    tasks: tuple[str, ...]  # tasks it can be trained for; the first is the default
    module: str
    model: str
    options: str  # a name in the same module, or module:name if they load without torch
    learns: Learning = "gradient"
    looks: bool = True  # True if its networks have attention, or something similar, that can be watched
    heads: bool = True  # True if they have attention heads to report on, if the task can
    embeds: bool = True  # True if they have word vectors to return, if the task can
    blind_for: tuple[str, ...] = ()  # tasks for which they have none of these
    followed_for: tuple[str, ...] = ()  # tasks in which a sentence can be followed from tokens to logits
    toy: str | None = None  # the toy for `regard check-family`, as module:name
    cost: str | None = None  # function that computes the cost of an input from options and weight shapes, without torch

    def load(self) -> tuple[type[Any], type[Options]]:
        """Return the model's class and its options' class; torch is imported only here."""
        return find_place(self.network), self.load_options()

    def load_options(self) -> type[Options]:
        """Return the class of its options; torch is imported only if they are in the network's module."""
        options: type[Options] = find_place(self.options if ":" in self.options else f"{self.module}:{self.options}")
        return options

    @property
    def network(self) -> str:
        """The place of the model's class, as module:name."""
        return f"{self.module}:{self.model}"

    def way(self, task: str) -> Way:
        """Return how it learns a task."""
        return TASKS[task].ways[self.learns]
