"""Requests for transcripts."""

from typing import Annotated

from pydantic import Field

from regard.base.recipe import Options
from regard.base.requests.fields import Base64, Count, InHand, content_of
from regard.base.requests.rules import Need, VerbRequest

FUSE_WEIGHT = 0.5  # default weight of a language model
FUSED_BEAM = 16  # default beam size with a language model


class SoundInput(Options):
    """A sound."""

    sound: Base64 = Field(description="A wav or flac file in base64.")

    @property
    def content(self) -> bytes:
        return content_of(self.sound)


class TranscribeRequest(VerbRequest):
    """The sounds to transcribe, and how."""

    verb, items = "transcribe", "sounds"
    rules = (Need("fuse_weight", "fuse", "{fuse_weight} has no effect without {fuse}."),)

    sounds: list[SoundInput | InHand] = Field(min_length=1, description="Sound files.")
    beam: Count | None = Field(
        default=None, description="Beam size: prefixes that the search keeps. By default the best symbol of each frame."
    )
    fuse: str | InHand | None = Field(
        default=None, description="Name of a language model with the same symbols, mixed in at each step (fusion)."
    )
    fuse_weight: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        default=None, description="Weight of that language model (0.5)."
    )
