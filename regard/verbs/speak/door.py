"""The door for speech."""

from base64 import b64encode
from typing import TYPE_CHECKING

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_amount
from regard.base.faults import Fault
from regard.tasks.speaking.options import SECONDS_A_SYMBOL, SECONDS_MORE
from regard.verbs.speak.request import SpeakRequest

if TYPE_CHECKING:
    from regard.protocols import Spoken

_FRAME = 0.01  # seconds of sound
_ROUNDS = 30  # of Griffin-Lim, which cost about as much as the network


class SpeakBody(SpeakRequest, ModelBody):
    """The texts to speak, and the model."""


class SpokenAnswer(DoorAnswer):
    """A sound: its text, speaker and length, whether it ended or was cut, and a wav file in base64."""

    text: str
    speaker: str
    seconds: float
    ended: bool
    wav: str


class SpeakAnswer(DoorAnswer):
    model: str
    seconds: float
    sounds: list[SpokenAnswer]


def _longest_sounds(request: SpeakRequest) -> list[float]:
    """Return the longest possible sound of each text, in seconds."""
    return [request.seconds or SECONDS_MORE + SECONDS_A_SYMBOL * len(text) for text in request.text]


def check_speech(question: Question[SpeakBody]) -> SpeakBody:
    """Refuse texts that are too long, or whose sounds together may exceed the limit of a request."""
    body, limits = question.body, question.limits
    check_amount(body.text, limits)
    seconds = sum(_longest_sounds(body))
    if seconds > limits.speech_seconds:
        raise Fault(
            f"These sounds may last {seconds:,.0f} seconds, but the sounds of a request here last at most "
            f"{limits.speech_seconds:g}. Give fewer or shorter texts, or 'seconds'."
        )
    return body


def _costs(question: Question[SpeakBody]) -> list[float]:
    body = question.body
    return [seconds / _FRAME * (1 + body.rounds / _ROUNDS) for seconds in _longest_sounds(body)]


def _write(spoken: "Spoken") -> SpokenAnswer:
    wav = b64encode(spoken.as_wav()).decode()
    return SpokenAnswer(text=spoken.text, speaker=spoken.speaker, seconds=spoken.seconds, ended=spoken.ended, wav=wav)


DOORS = (
    VerbDoor(
        path="/v1/speak",
        can="speak",
        summary="Speak each text.",
        body=SpeakBody,
        answer=SpeakAnswer,
        texts="text",
        ready=check_speech,
        price=Price("frames of 10 ms at most, and rounds of Griffin-Lim for each", 2000, ordinary=1500),
        costs=_costs,
        write=_write,
        listed="sounds",
    ),
)
