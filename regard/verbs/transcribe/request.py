"""Requests for transcripts."""

from typing import Annotated

from pydantic import Field

from regard.base.recipe import Options
from regard.base.requests.fields import Base64, Count, InHand, content_of
from regard.base.requests.rules import Need, VerbRequest

FUSE_WEIGHT = 0.5  # how much a language model counts beside a network that hears
FUSED_BEAM = 16  # prefixes that a search keeps where a language model has its say and nobody says how many


class SoundInput(Options):
    """A sound."""

    sound: Base64 = Field(description="Its file, as wav or flac, in base64.")

    @property
    def content(self) -> bytes:
        return content_of(self.sound)


class TranscribeRequest(VerbRequest):
    """The sounds that are to be written down, and how."""

    verb, items = "transcribe", "sounds"
    rules = (Need("fuse_weight", "fuse", "{fuse_weight} would do nothing without {fuse}."),)

    sounds: list[SoundInput | InHand] = Field(min_length=1, description="Files of sounds.")
    beam: Count | None = Field(
        default=None, description="Prefixes that a search keeps; by default the most probable symbol of each frame."
    )
    fuse: str | InHand | None = Field(
        default=None, description="The name of a language model of the same symbols, which has its say in the search."
    )
    fuse_weight: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        default=None, description="How much that language model counts (0.5)."
    )
