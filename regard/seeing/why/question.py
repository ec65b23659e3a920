"""Ask a model of any family why it decided as it did."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.protocols import Answers, Decides, Labelled
from regard.seeing.gazes import see_answer
from regard.seeing.why.decision import Question as Question
from regard.seeing.why.languages import ask_language_model, refuse_counting_language
from regard.seeing.why.nodes import ask_node
from regard.seeing.why.pictures import ask_captioner, ask_picture
from regard.seeing.why.sounds import ask_line, ask_sound
from regard.seeing.why.stories import ask_machine, ask_story
from regard.seeing.why.texts import ask_classifier, ask_masked, ask_tagger, refuse_counting_classifier
from regard.seeing.why.translators import ask_translator
from regard.viewing.sides import Words

Asker = Callable[[Any, Any, Any, int | None, str | None], Question]

# How to ask each task; others, such as those of plugins, may describe their decisions themselves.
ASKERS: dict[str, Asker] = {
    "translation": ask_translator,
    "language": ask_language_model,
    "masked": ask_masked,
    "classification": ask_classifier,
    "tagging": ask_tagger,
    "glimpses": ask_picture,
    "captioning": ask_captioner,
    "answering": ask_story,
    "algorithms": ask_machine,
    "transcription": ask_sound,
    "handwriting": ask_line,
    "nodes": ask_node,
}
# Tasks of which some models count words, and what refuses those.
_COUNTING: dict[str, Callable[[Loaded], None]] = {
    "language": refuse_counting_language,
    "classification": refuse_counting_classifier,
}


def ask(
    model: Loaded,
    item: Any,
    output: str | Sequence[int] | None = None,
    place: int | None = None,
    word: str | None = None,
) -> Question:
    """Return the question why a model chose this output for an item, by default its own.

    A translator's output may also be given as tokens. Among several tokens `place` (counted from 0) or `word` chooses
    one; by default it is the last. A model of which this cannot be asked is refused.
    """
    refuse_unasked(model)
    if isinstance(model.task, torch.nn.Module):
        model.task.eval()
    asker = ASKERS.get(model.recipe.task, _ask_task)
    return asker(model, item, output, place, word)


def _ask_task(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None) -> Question:
    """Return the question about the decision that a task describes itself."""
    task = model.task
    decision = task.decision(item, output, place, word)
    names = list(decision.names)
    return Question(
        names,
        decision.chosen,
        decision.inputs,
        torch.zeros_like(decision.inputs) if decision.baseline is None else decision.baseline,
        decision.log_probability,
        decision.without,
        decision.side or Words(names, names, range(len(names))),
        decision.text or str(item),
        decision.output or decision.chosen,
        partial(see_answer, task, item) if isinstance(task, Answers) and isinstance(task, Labelled) else None,
        decision.queries,
        decision.keys,
        inseparable=decision.inseparable,
    )


def refuse_unasked(model: Loaded) -> None:
    """Refuse a model that makes no decision about its input, such as one that draws or speaks, or one that counts."""
    if model.recipe.task not in ASKERS and not isinstance(model.task, Decides):
        name = f"{model.recipe.family} for {model.recipe.task}"
        raise Fault(f"A {name} makes no single decision that can be traced to units of its input.")
    if model.recipe.task in _COUNTING:
        _COUNTING[model.recipe.task](model)


def can_be_asked(model: Loaded) -> bool:
    """Return True if a decision of the model can be explained by some method."""
    try:
        refuse_unasked(model)
    except Fault:
        return False
    return True
