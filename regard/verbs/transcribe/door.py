"""The door for transcripts."""

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_numbers
from regard.base.requests.fields import Held
from regard.verbs.generate.door import find_language_model
from regard.verbs.inputs import check_inputs, input_cost
from regard.verbs.transcribe.request import FUSED_BEAM, TranscribeRequest


class TranscribeBody(TranscribeRequest, ModelBody):
    """The sounds to transcribe, and the model."""


class TranscriptAnswer(DoorAnswer):
    """The text of a sound as `regard transcribe --json` prints it: each symbol with its start and end in seconds."""

    text: str
    score: float
    alignment: list[tuple[str, float, float]]


class TranscribeAnswer(DoorAnswer):
    model: str
    seconds: float
    transcripts: list[TranscriptAnswer]


def _check(question: Question[TranscribeBody]) -> TranscribeBody:
    body = question.body
    check_inputs(question.model, body.sounds, question.limits)
    check_numbers(body, ("beam",), question.limits)
    if body.fuse is None:
        return body
    return body.model_copy(update={"fuse": Held(find_language_model(question.model, str(body.fuse)))})


def _costs(question: Question[TranscribeBody]) -> list[float]:
    beam = question.body.beam or (0 if question.body.fuse is None else FUSED_BEAM)
    return [input_cost(sound) * (1 + beam) for sound in question.body.sounds]


DOORS = (
    VerbDoor(
        path="/v1/transcribe",
        can="transcribe",
        summary="Transcribe each sound.",
        body=TranscribeBody,
        answer=TranscribeAnswer,
        ready=_check,
        key=lambda body: (body.beam, body.fuse, body.fuse_weight),
        price=Price("frames of 10 ms, for each place in the beam", 1000, ordinary=300),
        costs=_costs,
        write=lambda transcript: TranscriptAnswer(**transcript.as_dict()),
        listed="transcripts",
    ),
)
