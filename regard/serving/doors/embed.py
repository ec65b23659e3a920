"""The door of vectors."""

import time
from contextlib import aclosing
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
from regard.serving.http.replies import json_bytes, listed_response
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
    work = _all_vectors(service.catalogue, model, body, service.limits)
    found = await service.answer(request, work)
    return listed_response(EmbedAnswer(model=model.name, seconds=time.monotonic() - began, texts=[]), "texts", found)


async def _all_vectors(catalogue: Catalogue, model: Served, request: EmbedRequest, limits: Limits) -> list[bytes]:
    """Return the vectors of each text as JSON; texts are worked on in turns, so that other requests can pass."""

    def work(numbers: list[int]) -> list[tuple[int, bytes]]:
        try:
            found = model.embed([request.text[number] for number in numbers], request.layer)
        except TextFault as fault:
            raise type(fault)(numbers[fault.number], fault.sentence) from None
        return [(_size(each), json_bytes(_as_answer(each)) if _size(each) <= limits.vectors else b"") for each in found]

    texts: dict[int, bytes] = {}
    size = 0
    async with aclosing(catalogue.each("/v1/embed", model, request, None, work, range(len(request.text)))) as answers:
        async for number, (own_size, text) in answers:
            texts[number] = text
            size += own_size
            if size > limits.vectors:  # so that no more of them is held
                some = "" if len(texts) == len(request.text) else f" of the first {len(texts):,} texts"
                raise Fault(
                    f"The vectors{some} have {size:,} numbers, but the limit here is {limits.vectors:,}. Ask for one "
                    "'layer', or for fewer texts."
                )
    return [texts[number] for number in range(len(request.text))]


def _size(text: "TextVectors") -> int:
    return sum(each.numel() for each in text.layers.values())


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
