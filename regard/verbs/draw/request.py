"""Requests for drawings: how many, of what, and from which strokes."""

from pydantic import Field

from regard.base.requests.rules import Clash, VerbRequest

MOST_DRAWINGS = 1000
Points = list[list[float]]


class DrawRequest(VerbRequest):
    """The drawings to make."""

    verb = "draw"

    count: int = Field(default=1, ge=1, le=MOST_DRAWINGS, description="Number of drawings.")
    seed: int = Field(default=1, ge=0, lt=2**63, description="Random seed; the same seed gives the same drawings.")
    prompt: str | None = Field(default=None, description="What to draw, in words that the model knows.")
    temperature: float = Field(
        default=1.0, gt=0, le=10, description="Sampling temperature; below 1, probable steps are chosen more often."
    )
    complete: list[Points] | None = Field(
        default=None, description="Strokes to complete, each a list of points [x, y]."
    )
    between: list[list[Points]] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="Two drawings of strokes to interpolate between.",
    )
    reconstruct: list[Points] | None = Field(default=None, description="Strokes that an autoencoder reconstructs.")

    rules = (
        Clash("complete", ("between", "reconstruct"), "{complete} and {other} ask for different drawings; give one."),
        Clash("between", ("reconstruct",), "{between} and {other} ask for different drawings; give one."),
    )
