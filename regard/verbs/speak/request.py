"""Requests for speech: texts, speaker, length and care."""

from pydantic import Field

from regard.base.requests.fields import Texts
from regard.base.requests.rules import VerbRequest
from regard.tasks.speaking.options import ROUNDS


class SpeakRequest(VerbRequest):
    """The texts that are to be spoken."""

    verb, items = "speak", "text"

    text: Texts = Field(description="One text, or several.")
    speaker: str | None = Field(default=None, description="Who is to speak; by default the first that it knows.")
    seconds: float | None = Field(
        default=None,
        gt=0,
        le=60,
        description="After how many seconds a sound is cut that does not end by itself; by default one second, and "
        "half a second for each letter.",
    )
    rounds: int = Field(
        default=ROUNDS,
        ge=0,
        le=1000,
        description="How often the phases of the sound are mended (Griffin and Lim's rounds).",
    )
