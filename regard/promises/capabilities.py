"""The capabilities of a task that each verb takes; what the tables say of verbs must agree with them."""

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


def verbs_by_capabilities(family: str, task: str) -> set[str]:
    """Return the verbs that follow from the class of a task and from what its family says of itself."""
    made, kind, own = find_place(FAMILIES[family].way(task).task), TASKS[task], FAMILIES[family]
    blind = ("look", "heads") if not own.looks or task in own.blind_for else ()
    lacking = (*blind, *(() if own.heads else ("heads",)), *(() if own.embeds else ("embed",)))
    found = {
        verb
        for verb, ways in VERBS.items()
        if (verb not in OWN_VERBS or verb == kind.verb)
        and verb not in lacking
        and any(all(has(made, capability) for capability in way) for way in ways)
    }
    found |= {verb for verb in own.way(task).can if verb not in VERBS}  # of plugins, which have their own capabilities
    return found | ({"serve"} if kind.verb in found else set())
