"""The door of speaking: sounds for texts."""

from base64 import b64encode
from typing import TYPE_CHECKING

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_amount
from regard.base.faults import Fault
from regard.tasks.speaking.options import SECONDS_A_SYMBOL, SECONDS_MORE
from regard.verbs.speak.request import SpeakRequest

if TYPE_CHECKING:
    from regard.protocols import Spoken

_FRAME = 0.01  # seconds of sound
_ROUNDS = 30  # of Griffin and Lim, which cost about as much as the network that speaks


class SpeakBody(SpeakRequest, ModelBody):
    """The texts that are to be spoken, and by which model."""


class SpokenAnswer(DoorAnswer):
    """A sound: what is said, by whom, how long, whether it ended or had to be cut, and a wav file in base64."""

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
    """Return the seconds after which the sound of each text is cut at the latest."""
    return [request.seconds or SECONDS_MORE + SECONDS_A_SYMBOL * len(text) for text in request.text]


def check_speech(question: Question[SpeakBody]) -> SpeakBody:
    """Refuse texts that are too long, or whose sounds may last longer together than a request may ask for."""
    body, limits = question.body, question.limits
    check_amount(body.text, limits)
    seconds = sum(_longest_sounds(body))
    if seconds > limits.speech_seconds:
        raise Fault(
            f"These sounds may last {seconds:,.0f} seconds, but those of a request here last at most "
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
        summary="A sound for each text.",
        body=SpeakBody,
        answer=SpeakAnswer,
        texts="text",
        ready=check_speech,
        price=Price("frames of 10 ms at most, and rounds of Griffin and Lim for each", 2000, ordinary=1500),
        costs=_costs,
        write=_write,
        listed="sounds",
    ),
)
