"""Recipe options for generated shapes."""

from pydantic import Field

from regard.base.recipe import Options


class GeneratedShapes(Options):
    """Number of generated pictures or videos of coloured shapes, each with true captions."""

    train: int = Field(20_000, ge=1, le=10**6, description="Pictures or videos to learn from.")
    valid: int = Field(1000, ge=2, le=10**6, description="Those to watch the training by.")
    test: int = Field(2000, ge=2, le=10**6, description="Those for the final scores.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of all of them; every split has its own.")
