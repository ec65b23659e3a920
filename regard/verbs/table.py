"""What a model can be asked for: each verb, the capabilities of a task that it takes, and the sentence of a refusal."""

from typing import Any

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.recipe import Recipe
from regard.families import FAMILIES, with_article
from regard.protocols import (
    Answers,
    Counts,
    Describes,
    Draws,
    Embeds,
    Labelled,
    Learns,
    Lexical,
    Measures,
    Paints,
    Reads,
    Reported,
    Speaks,
    Stepwise,
    Transcribes,
    Updates,
    Writes,
)
from regard.tasks import TASKS
from regard.verbs.purposes import COMMAND, refusal

# Each verb with the sets of capabilities that give it: one of the sets is enough.
VERBS: dict[str, tuple[tuple[type, ...], ...]] = {
    "train": ((Learns,), (Counts,), (Updates,)),
    "evaluate": ((Measures,),),
    "translate": ((Reads, Stepwise, Writes),),
    "generate": ((Reads, Stepwise, Writes),),
    "caption": ((Reads, Stepwise, Writes),),
    "transcribe": ((Reads, Transcribes),),
    "answer": ((Reads, Answers),),
    "speak": ((Reads, Speaks),),
    "draw": ((Draws,), (Reads, Paints)),
    "embed": ((Reads, Embeds),),
    "neighbours": ((Lexical,),),
    "analogy": ((Lexical,),),
    "look": ((Reads, Labelled),),
    "heads": ((Labelled, Reported),),
    "info": ((Describes,),),
    "compare": ((Learns, Measures), (Counts, Measures), (Updates, Measures)),
    "average": ((Learns,),),
}
# Verbs that capabilities alone do not give: a kind of task has one of them as its own.
OWN_VERBS = frozenset({"translate", "generate", "caption", "transcribe", "answer", "speak", "draw", "neighbours"})


LOOKING = ("look", "heads")  # verbs that take a network which looks somewhere


def has(task: type, capability: type) -> bool:
    """Whether a class of tasks has the methods of a capability."""
    return all(hasattr(task, name) for name, value in vars(capability).items() if _is_method(name, value))


def _is_method(name: str, value: Any) -> bool:
    return callable(value) and not name.startswith("_")


def verbs_of(family: str, task: str) -> list[str]:
    """What a model of a family that was trained for a task can be asked for."""
    kind, made = TASKS[task], find_place(FAMILIES[family].way(task).task)
    blind = () if FAMILIES[family].looks and task not in FAMILIES[family].blind_for else LOOKING
    headless = () if FAMILIES[family].heads else ("heads",)
    lacking = (*blind, *headless, *(() if FAMILIES[family].embeds else ("embed",)))
    found = [
        verb
        for verb, ways in VERBS.items()
        if (verb not in OWN_VERBS or verb == kind.verb)
        and verb not in lacking
        and any(all(has(made, capability) for capability in way) for way in ways)
    ]
    return [*found, *(["serve"] if kind.verb in found else [])]


def needs(recipe: Recipe, verb: str, way: str = COMMAND) -> None:
    """Refuse a verb that a model does not have, in a sentence that says which verb to use instead, in this way."""
    verbs = verbs_of(recipe.family, recipe.task)
    if verb not in verbs:
        kind = TASKS[recipe.task]
        gives = f"{with_article(recipe.family).capitalize()} gives {kind.gives}"
        raise Fault(refusal(gives, verb, verbs, kind.verb, way))


def needs_words(recipe: Recipe, what: str) -> None:
    """Refuse options or formats for word vectors, said of in the plural by `what`, with a model that has none."""
    if "neighbours" not in verbs_of(recipe.family, recipe.task):
        gives = TASKS[recipe.task].gives
        raise Fault(f"{what} are for models of word vectors; {with_article(recipe.family)} gives {gives}.")
