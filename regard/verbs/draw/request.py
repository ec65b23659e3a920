"""Requests for drawings: how many, of what, and from which strokes."""

from pydantic import Field

from regard.base.requests.rules import Clash, VerbRequest

MOST_DRAWINGS = 1000
Points = list[list[float]]


class DrawRequest(VerbRequest):
    """The drawings that are wanted."""

    verb = "draw"

    count: int = Field(default=1, ge=1, le=MOST_DRAWINGS, description="How many drawings.")
    seed: int = Field(
        default=1, ge=0, lt=2**63, description="What is drawn depends on it: the same seed, the same drawings."
    )
    prompt: str | None = Field(default=None, description="What to draw, in words that the model knows.")
    temperature: float = Field(
        default=1.0, gt=0, le=10, description="How freely each step is chosen; below 1, probable ones more often."
    )
    complete: list[Points] | None = Field(
        default=None, description="Strokes, each a list of points [x, y], that are to be gone on with."
    )
    between: list[list[Points]] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="Two drawings of strokes; what is drawn lies on the way from the first to the second.",
    )
    reconstruct: list[Points] | None = Field(
        default=None, description="Strokes that an autoencoder is to draw again, from what sums them up."
    )

    rules = (
        Clash("complete", ("between", "reconstruct"), "{complete} and {other} ask for different drawings; give one."),
        Clash("between", ("reconstruct",), "{between} and {other} ask for different drawings; give one."),
    )
