"""Requests for speech: texts, speaker, length and quality."""

from pydantic import Field

from regard.base.requests.fields import Texts
from regard.base.requests.rules import VerbRequest
from regard.tasks.speaking.options import ROUNDS


class SpeakRequest(VerbRequest):
    """The texts to speak."""

    verb, items = "speak", "text"

    text: Texts = Field(description="One text, or several.")
    speaker: str | None = Field(default=None, description="The speaker; by default the first that the model knows.")
    seconds: float | None = Field(
        default=None,
        gt=0,
        le=60,
        description="Cut a sound that has not ended after this many seconds; by default one second plus half a second "
        "per letter.",
    )
    rounds: int = Field(
        default=ROUNDS,
        ge=0,
        le=1000,
        description="Rounds of Griffin-Lim, which reconstructs the phases of the sound.",
    )
