"""What may be asked when a model draws: how many drawings, and which of all it could draw."""

from pydantic import Field

from regard.verbs.requests.rules import VerbRequest

MOST_DRAWINGS = 1000


class DrawRequest(VerbRequest):
    """The drawings that are wanted."""

    count: int = Field(default=1, ge=1, le=MOST_DRAWINGS, description="How many drawings.")
    seed: int = Field(
        default=1, ge=0, lt=2**63, description="What is drawn depends on it: the same seed, the same drawings."
    )
