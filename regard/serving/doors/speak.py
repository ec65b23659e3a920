"""The door of speaking: sounds for texts."""

import time
from base64 import b64encode

from starlette.requests import Request
from starlette.responses import Response

from regard.base.faults import TextFault
from regard.serving.catalogue import Catalogue
from regard.serving.doors.bodies import SpeakBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_amount, check_speech
from regard.serving.doors.sound_records import SpeakAnswer, SpokenAnswer
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.served import Served
from regard.verbs.speak.request import SpeakRequest


async def speak(service: Service, request: Request) -> Response:
    body, began = read_request(SpeakBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("speak", body.model)
    check_amount(body.text, service.limits)
    check_speech(body, service.limits)
    service.note(request, body.text, model=model.name)
    found = await service.answer(request, _all_sounds(service.catalogue, model, body))
    return json_response(SpeakAnswer(model=model.name, seconds=time.monotonic() - began, sounds=found))


async def _all_sounds(catalogue: Catalogue, model: Served, request: SpeakRequest) -> list[SpokenAnswer]:
    """The sound of each text; texts are worked on some at a time, so that other requests can pass."""

    def work(numbers: list[int]) -> list[SpokenAnswer]:
        texts = [request.text[number] for number in numbers]
        try:
            found = model.speak(request.model_copy(update={"text": texts}))
        except TextFault as fault:
            raise TextFault(numbers[fault.number], fault.sentence) from None
        return [
            SpokenAnswer(
                text=each.text,
                speaker=each.speaker,
                seconds=each.seconds,
                ended=each.ended,
                wav=b64encode(each.as_wav()).decode(),
            )
            for each in found
        ]

    numbers = range(len(request.text))
    found = dict([each async for each in catalogue.each("/v1/speak", model, request, None, work, numbers)])
    return [found[number] for number in numbers]


DOORS = (Door("POST", "/v1/speak", speak, "speak", "A sound for each text.", SpeakAnswer, body=SpeakBody),)
