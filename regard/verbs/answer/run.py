"""Answering: one answer for each input, whatever the model reads, or one for each word of it."""

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
    """Return the answers that a request asks for; the taggers that it names are in hand."""
    inputs = [each.content if isinstance(each, Held) else each for each in request.inputs]
    taggers = [each.content for each in request.taggers] or (own_taggers(model) if request.raw else [])
    read = mark_as_is(model.task, inputs) if request.as_is else inputs
    return answer_each(model.task, read, tag_search(model, request.beam, request.raw, taggers))


def answer_each(task: Any, inputs: Iterable[Any], search: TagSearch) -> Iterator[Answer | Tags]:
    """The answers to inputs as people have them, in their order, as soon as each batch of them is done."""
    waiting, done = iter(inputs), 0
    while batch := list(islice(waiting, AT_ONCE)):
        try:
            found = answer_batch(task, batch, search)
        except TextFault as fault:  # which counts from the first of its batch
            raise TextFault(done + fault.number, fault.sentence) from None
        yield from found
        done += len(batch)


def answer_batch(task: Any, inputs: Sequence[Any], search: TagSearch) -> Sequence[Answer | Tags]:
    """The answers to some inputs at once; how tags are searched for is asked of taggers alone."""
    if search.given and not isinstance(task, Tagging):
        raise Fault(f"{search.given[0]} is for models that give a tag to each word, which this one does not.")
    since, is_labelled = count_gazes(), isinstance(task, Labelled)
    found: Sequence[Answer | Tags]
    if isinstance(task, Tagging):
        inputs = fill_columns(inputs, search)
        found = tag_sentences(task, inputs, search)
    else:
        found = task.answers(task.read(inputs))
    if is_watched() and is_labelled:
        raw = {"raw": True} if search.raw else {}
        name_answers(task, [task.read([each], **raw) for each in inputs], found, since)
    return found
