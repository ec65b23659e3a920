"""The door of transcribing: what sounds say."""

import time

from starlette.requests import Request
from starlette.responses import Response

from regard.base.requests.fields import Held
from regard.serving.catalogue import Catalogue
from regard.serving.doors.answer import check_inputs
from regard.serving.doors.bodies import TranscribeBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_numbers
from regard.serving.doors.sound_records import TranscribeAnswer, TranscriptAnswer
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.served import Served
from regard.verbs.transcribe.request import SoundInput, TranscribeRequest


async def transcribe(service: Service, request: Request) -> Response:
    body, began = read_request(TranscribeBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("transcribe", body.model)
    check_inputs(model, body.sounds, service.limits)
    check_numbers(body, ("beam",), service.limits)
    service.note(request, [], model=model.name)
    found = await service.answer(request, _all_transcripts(service.catalogue, model, body))
    return json_response(TranscribeAnswer(model=model.name, seconds=time.monotonic() - began, transcripts=found))


async def _all_transcripts(catalogue: Catalogue, model: Served, request: TranscribeRequest) -> list[TranscriptAnswer]:
    """The transcripts in the order of the sounds, which share batches with those of other requests."""

    fused = None if request.fuse is None else Held(catalogue.language_model(str(request.fuse)))
    asked = request.model_copy(update={"fuse": fused})

    def work(batch: list[SoundInput]) -> list[TranscriptAnswer]:
        found = model.transcribe(asked.model_copy(update={"sounds": batch}))
        return [TranscriptAnswer(**each.as_dict()) for each in found]

    key = ("transcribe", request.beam, request.fuse, request.fuse_weight)
    answers = catalogue.each("/v1/transcribe", model, request, key, work, request.sounds)
    found = dict([answer async for answer in answers])
    return [found[place] for place in range(len(request.sounds))]


DOORS = (
    Door(
        "POST", "/v1/transcribe", transcribe, "transcribe", "What each sound says.", TranscribeAnswer,
        body=TranscribeBody,
    ),
)  # fmt: skip
