"""The capabilities of a task that each verb needs; the verbs in the tables must agree with them."""

from regard.base.places import find_place
from regard.families import FAMILIES
from regard.families.abilities import has
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

# Each verb with the sets of capabilities that give it; any one set is enough.
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
# Verbs that capabilities alone do not give: each kind of task has one of them as its own.
OWN_VERBS = frozenset({"translate", "generate", "caption", "transcribe", "answer", "speak", "draw", "neighbours"})


def verbs_by_capabilities(family: str, task: str) -> set[str]:
    """Return the verbs that follow from a task's class and its family's row."""
    task_type, kind, row = find_place(FAMILIES[family].way(task).task), TASKS[task], FAMILIES[family]
    blind = ("look", "heads") if not row.looks or task in row.blind_for else ()
    lacking = (*blind, *(() if row.heads else ("heads",)), *(() if row.embeds else ("embed",)))
    verbs = {
        verb
        for verb, ways in VERBS.items()
        if (verb not in OWN_VERBS or verb == kind.verb)
        and verb not in lacking
        and any(all(has(task_type, capability) for capability in way) for way in ways)
    }
    verbs |= {verb for verb in row.way(task).can if verb not in VERBS}  # of plugins, which have their own capabilities
    return verbs | ({"serve"} if kind.verb in verbs else set())
