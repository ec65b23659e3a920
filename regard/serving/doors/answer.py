"""The doors of answering and of looking at it; an input is a text, the number of a node, a picture or a sound."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from regard.base.faults import Fault, TextFault
from regard.serving.catalogue import Catalogue
from regard.serving.doors.bodies import AnswerBody, LookBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_amount, check_file, check_numbers, check_points
from regard.serving.doors.records import AnswersAnswer, LookAnswer, OneAnswer, PictureAnswer, StoryAnswer, TagsAnswer
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.options import Limits
from regard.serving.served import Served
from regard.serving.taggers import find_taggers
from regard.verbs.answer.request import DrawingInput, Input, PictureInput
from regard.verbs.transcribe.request import SoundInput

T = TypeVar("T")
_READS = {
    "nodes": ((int, str), "numbers of nodes"),
    "picture": ((PictureInput,), 'pictures, each as {"picture": "its file in base64"}'),
    "video": ((PictureInput,), 'videos, each as {"picture": "its GIF in base64"}'),
    "sound": ((SoundInput,), 'sounds, each as {"sound": "its file in base64"}'),
    "text": ((str,), "texts"),
    "tokens": ((str,), "sentences"),
    "prompt": ((str,), "texts"),
    "sequence": ((str,), "sequences of numbers, each as a text"),
    "items": ((str,), "examples, each a line of bits"),
    "story": ((str,), "stories, a fact a line and a question last"),
    "drawing": ((DrawingInput,), 'drawings, each as {"drawing": its strokes}'),
}
_ANSWERS = {"tokens": TagsAnswer, "story": StoryAnswer, "picture": PictureAnswer}  # of those that are more than a class


async def answer(service: Service, request: Request) -> Response:
    body, began = read_request(AnswerBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("answer", body.model)
    check_inputs(model, body.inputs, service.limits)
    texts = [each if isinstance(each, str) else "" for each in body.inputs]
    service.note(request, texts, model=model.name)
    check_numbers(body, ("beam",), service.limits)
    unfolded = None
    if body.unfold:
        unfolded = [each for text in texts for each in model.unfold(text)]
        check_amount(unfolded, service.limits)
        body = body.model_copy(update={"inputs": unfolded})
    found = await service.answer(request, _all_answers(service.catalogue, model, body))
    answer = AnswersAnswer(model=model.name, seconds=time.monotonic() - began, answers=found, inputs=unfolded)
    return json_response(answer)


async def look(service: Service, request: Request) -> Response:
    body, began = read_request(LookBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("look", body.model)
    check_inputs(model, [body.input], service.limits)
    service.note(request, [], model=model.name)
    more = {"as_is": True} if body.as_is else {}

    def look_at(inputs: Sequence[Any]) -> tuple[str, dict[str, Any], str]:
        remark = "" if body.as_is else model.remark_on(inputs[0])
        return *model.look(inputs[0], body.speaker, **more), remark

    work = partial(with_files, [body.input], look_at)
    view, looks, remark = await service.answer(request, service.catalogue.one("/v1/look", model, body, work))
    seconds = time.monotonic() - began
    return json_response(LookAnswer(model=model.name, seconds=seconds, view=view, looks=looks, remark=remark))


def check_inputs(model: Served, inputs: Sequence[Any], limits: Limits) -> None:
    """Refuse inputs of another kind than the model reads, and more than a request may have."""
    check_amount([each if isinstance(each, str) else "" for each in inputs], limits)
    kinds, called = _READS[model.reads]
    for number, each in enumerate(inputs, start=1):
        if not isinstance(each, kinds):
            given = "the input" if len(inputs) == 1 else f"input {number}"
            raise Fault(f"The model {model.name} reads {called}; {given} is something else.")
        if isinstance(each, PictureInput | SoundInput):
            what = "picture" if isinstance(each, PictureInput) else "sound"
            check_file(each, f"The {what}" if len(inputs) == 1 else f"Input {number}", model.reads, limits)
    check_points([each.drawing for each in inputs if isinstance(each, DrawingInput)], limits)


async def _all_answers(catalogue: Catalogue, model: Served, body: AnswerBody) -> list[Any]:
    """The answers in the order of the inputs, which share batches with those of other requests."""

    taggers = find_taggers(model, catalogue.models, body.taggers, body.raw)

    def answer_all(inputs: Sequence[Any]) -> list[dict[str, Any]]:
        found = [asdict(each) for each in model.answer(inputs, body, taggers)]
        if model.reads != "picture":
            return found
        remarks = ["" if body.as_is else model.remark_on(each) for each in inputs]
        return [answer | {"remark": remark} for answer, remark in zip(found, remarks, strict=True)]

    def work(batch: list[tuple[int, Any]]) -> list[Any]:
        try:
            return with_files([each for _, each in batch], answer_all)
        except TextFault as fault:  # which counts from the first of its batch
            raise TextFault(batch[fault.number][0], fault.sentence) from None

    made = _ANSWERS.get(model.reads, OneAnswer)
    found: dict[int, OneAnswer | TagsAnswer] = {}
    key, numbered = ("answer", body.beam, body.raw, body.as_is, *body.taggers), list(enumerate(body.inputs))
    async for place, each in catalogue.each("/v1/answer", model, body, key, work, numbered):
        found[place] = made(**each)
    return [found[place] for place in range(len(body.inputs))]


def with_files(inputs: Sequence[Input], work: Callable[[Sequence[Any]], T]) -> T:
    """What work makes of inputs as people have them: a sound is its bytes, pictures and drawings are files meanwhile.

    Batches hold inputs of several requests, so a fault speaks of the picture without its number.
    """
    if not any(isinstance(each, PictureInput | SoundInput | DrawingInput) for each in inputs):
        return work(inputs)
    with TemporaryDirectory(prefix="regard-") as folder:
        try:
            return work([_on_disk(each, Path(folder) / str(place)) for place, each in enumerate(inputs)])
        except Fault as fault:
            named = re.compile(rf"{re.escape(folder)}/\d+/")
            raise Fault(*(named.sub("", sentence) for sentence in fault.sentences)) from None


def _on_disk(given: Input, folder: Path) -> str | int | Path | bytes:
    if isinstance(given, SoundInput):
        return given.content
    if not isinstance(given, PictureInput | DrawingInput):
        return given
    folder.mkdir()
    path = folder / ("The picture" if isinstance(given, PictureInput) else "The drawing")
    path.write_bytes(given.content)
    return path


DOORS = (
    Door("POST", "/v1/answer", answer, "answer", "An answer for each input.", AnswersAnswer, body=AnswerBody),
    Door("POST", "/v1/look", look, "look", "What a model looks at when it answers.", LookAnswer, body=LookBody),
)
