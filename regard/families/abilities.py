"""The verbs of a model by its family and task, and the refusals of others; imports no torch.

The tables define them: a way to learn a task has verbs (`regard/tasks`), and a family may lack some of them. A test
checks them against the capabilities of the tasks.
"""

from collections.abc import Sequence

from regard.base.faults import Fault
from regard.base.recipe import Recipe
from regard.families import FAMILIES, with_article
from regard.tasks import TASKS

_OUTPUT = ("translate", "generate", "caption", "transcribe", "answer", "speak", "draw")
_VECTORS = ("embed", "neighbours", "analogy", "map")
_LOOKING = ("look", "attention", "next", "beam", "forward", "why", "examples", "heads")
# Verbs that serve the same purpose, the likelier first; some are only addresses of the server.
PURPOSES = (_OUTPUT, _VECTORS, _LOOKING)
# All verbs, in the order in which people see them.
VERBS = (
    "train", "evaluate", *_OUTPUT, "embed", "neighbours", "analogy", "look", "heads", "info", "compare", "average",
    "serve",
)  # fmt: skip
_OF_ALL = ("train", "evaluate", "info", "compare", "serve")
COMMAND, METHOD, ADDRESS = "`regard {}`", "`model.{}`", "/v1/{}"  # ways to ask for a verb


def verbs_of(family: str, task: str) -> list[str]:
    """Return the verbs of a model of this family that was trained for this task."""
    row = FAMILIES[family]
    can = {*_OF_ALL, *row.way(task).can, *(["average"] if row.learns == "gradient" else [])}
    if not row.looks or task in row.blind_for:
        can -= {"look", "heads"}
    can -= {verb for verb, has in (("heads", row.heads), ("embed", row.embeds)) if not has}
    return [*(verb for verb in VERBS if verb in can), *(verb for verb in row.way(task).can if verb not in VERBS)]


def is_followed(family: str, task: str) -> bool:
    """Return True if a sentence can be followed through such a model, from tokens to logits."""
    return task in FAMILIES[family].followed_for


def has(task: type, capability: type) -> bool:
    """Return True if a task class has the methods of a capability."""
    methods = [name for name, value in vars(capability).items() if callable(value) and not name.startswith("_")]
    return all(hasattr(task, name) for name in methods)


def needs(recipe: Recipe, verb: str, way: str = COMMAND) -> None:
    """Refuse a verb that a model lacks, and name the verb to use instead, in the form of `way`."""
    verbs = verbs_of(recipe.family, recipe.task)
    if verb not in verbs:
        kind = TASKS[recipe.task]
        gives = f"{with_article(recipe.family).capitalize()} gives {kind.gives}"
        raise Fault(refusal(gives, verb, verbs, kind.verb, way))


def needs_words(recipe: Recipe, what: str) -> None:
    """Refuse options or formats for word vectors, named in the plural by `what`, if the model has none."""
    needs_kind(recipe, "neighbours", f"{what} are for models of word vectors")


def needs_kind(recipe: Recipe, verb: str, clause: str) -> None:
    """Refuse a model without a verb, by a clause that says what is asked for and which models have it."""
    if verb not in verbs_of(recipe.family, recipe.task):
        raise Fault(f"{clause}; {with_article(recipe.family)} gives {TASKS[recipe.task].gives}.")


def refusal(gives: str, verb: str, verbs: Sequence[str], own: str, way: str) -> str:
    """Return the sentences that refuse a verb: what the model gives, the verb to use instead, and all its verbs."""
    instead = verb_instead(verb, verbs, own)
    if instead is None:
        return f"{gives}; it can {', '.join(verbs)}."
    return f"{gives}; use {way.format(instead)}. It can {', '.join(verbs)}."


def verb_instead(verb: str, verbs: Sequence[str], own: str) -> str | None:
    """Return a verb of the model with the same purpose, or its own main verb; None if neither fits."""
    purpose = next((purpose for purpose in PURPOSES if verb in purpose), _LOOKING)
    same = next((candidate for candidate in purpose if candidate in verbs), None)
    return same or (own if purpose is not _LOOKING and own in verbs else None)
