"""Answer inputs: one answer for each, or a tag for each of its words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from regard.attention.watch import count_gazes, is_watched
from regard.base.faults import Fault, TextFault
from regard.base.requests.fields import Held
from regard.loading import Loaded
from regard.protocols import Answer, Labelled, Tags
from regard.tasks.tagging.task import Tagging
from regard.verbs.answer.request import AnswerRequest
from regard.verbs.answer.tagging import TagSearch, fill_columns, own_taggers, tag_search, tag_sentences
from regard.verbs.pictures import mark_as_is
from regard.verbs.place_names import name_answers

AT_ONCE = 256  # inputs in one batch


def run(model: Loaded, request: AnswerRequest) -> Iterator[Answer | Tags]:
    """Return the answers to a request, whose taggers are already loaded."""
    inputs = [item.content if isinstance(item, Held) else item for item in request.inputs]
    taggers = [item.content for item in request.taggers] or (own_taggers(model) if request.raw else [])
    items = mark_as_is(model.task, inputs) if request.as_is else inputs
    return answer_each(model.task, items, tag_search(model, request.beam, request.raw, taggers))


def answer_each(task: Any, inputs: Iterable[Any], search: TagSearch) -> Iterator[Answer | Tags]:
    """Yield the answers to inputs in order, as soon as each batch is done."""
    waiting, done = iter(inputs), 0
    while batch := list(islice(waiting, AT_ONCE)):
        try:
            answers = answer_batch(task, batch, search)
        except TextFault as fault:  # numbered from the start of the batch
            raise TextFault(done + fault.number, fault.sentence) from None
        yield from answers
        done += len(batch)


def answer_batch(task: Any, inputs: Sequence[Any], search: TagSearch) -> Sequence[Answer | Tags]:
    """Return the answers to a batch of inputs; search options are for taggers only."""
    if search.given and not isinstance(task, Tagging):
        raise Fault(f"{search.given[0]} is for models that tag each word; this one does not.")
    since, is_labelled = count_gazes(), isinstance(task, Labelled)
    answers: Sequence[Answer | Tags]
    if isinstance(task, Tagging):
        inputs = fill_columns(inputs, search)
        answers = tag_sentences(task, inputs, search)
    else:
        answers = task.answers(task.read(inputs))
    if is_watched() and is_labelled:
        raw = {"raw": True} if search.raw else {}
        name_answers(task, [task.read([item], **raw) for item in inputs], answers, since)
    return answers
