"""Answer inputs: one answer for each, or a tag for each of its words."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from regard.attention.watch import count_gazes, is_watched
from regard.base.faults import Fault
from regard.base.requests.fields import Held
from regard.engines.exported import ONNX
from regard.engines.onnx.reading import OnnxReader, load_reader
from regard.loading import Loaded
from regard.protocols import Answer, Labelled, Tags
from regard.tasks.tagging.task import Tagging
from regard.verbs.answer.batching import answer_each
from regard.verbs.answer.request import AnswerRequest
from regard.verbs.answer.tagging import TagSearch, fill_columns, own_taggers, tag_search, tag_sentences
from regard.verbs.exports import export_of
from regard.verbs.pictures import mark_as_is
from regard.verbs.place_names import name_answers


def run(model: Loaded, request: AnswerRequest) -> Iterator[Answer | Tags]:
    """Return the answers to a request, whose taggers are already loaded."""
    inputs = [item.content if isinstance(item, Held) else item for item in request.inputs]
    if (reader := _reader(model, request)) is not None:
        return answer_each(partial(reader.answers, raw=request.raw), inputs)
    taggers = [item.content for item in request.taggers] or (own_taggers(model) if request.raw else [])
    items = mark_as_is(model.task, inputs) if request.as_is else inputs
    search = tag_search(model, request.beam, request.raw, taggers)
    return answer_each(partial(answer_batch, model.task, search=search), items)


def _reader(model: Loaded, request: AnswerRequest) -> OnnxReader | None:
    """Return the export that can answer a request, if there is one and nobody watches the model."""
    if is_watched() and request.engine == ONNX:
        raise Fault("onnxruntime does not run the model's modules, so it cannot be watched; use torch.")
    if is_watched() or request.beam or request.taggers or request.as_is:
        return None
    return export_of(model, request.engine, load_reader)


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
