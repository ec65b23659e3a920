"""The door of vectors."""

import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from regard.base.faults import Fault, TextFault
from regard.serving.catalogue import Catalogue
from regard.serving.doors.bodies import EmbedBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_amount
from regard.serving.doors.records import EmbedAnswer, EmbeddedLayer, EmbeddedText
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.options import Limits
from regard.serving.served import Served
from regard.verbs.embed.request import EmbedRequest

if TYPE_CHECKING:
    from regard.protocols import TextVectors


async def embed(service: Service, request: Request) -> Response:
    body, began = read_request(EmbedBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("embed", body.model)
    check_amount(body.text, service.limits)
    service.note(request, body.text, model=model.name)
    found = await service.answer(request, _all_vectors(service.catalogue, model, body))
    _check_size(found, service.limits)
    texts = [_as_answer(each) for each in found]
    return json_response(EmbedAnswer(model=model.name, seconds=time.monotonic() - began, texts=texts))


async def _all_vectors(catalogue: Catalogue, model: Served, request: EmbedRequest) -> "list[TextVectors]":
    """The vectors of each text; texts are worked on some at a time, so that other requests can pass."""

    def work(numbers: list[int]) -> "list[TextVectors]":
        try:
            return model.embed([request.text[number] for number in numbers], request.layer)
        except TextFault as fault:
            raise type(fault)(numbers[fault.number], fault.sentence) from None

    numbers = range(len(request.text))
    found = dict([each async for each in catalogue.each("/v1/embed", model, request, None, work, numbers)])
    return [found[number] for number in numbers]


def _check_size(texts: "list[TextVectors]", limits: Limits) -> None:
    numbers = sum(each.numel() for text in texts for each in text.layers.values())
    if numbers > limits.vectors:
        raise Fault(
            f"The vectors have {numbers:,} numbers, but the limit here is {limits.vectors:,}. Ask for one 'layer', "
            "or for fewer texts."
        )


def _as_answer(vectors: "TextVectors") -> EmbeddedText:
    text, means = vectors.text, vectors.sentence
    layers = [
        EmbeddedLayer(layer=layer, sentence=means[layer].tolist(), tokens=each.tolist())
        for layer, each in vectors.layers.items()
    ]
    return EmbeddedText(
        tokens=list(text.tokens), words=list(text.words), word_of_token=list(text.places), layers=layers
    )


DOORS = (Door("POST", "/v1/embed", embed, "embed", "The vectors of texts and tokens.", EmbedAnswer, body=EmbedBody),)
