"""What a recipe says about shapes that are generated."""

from pydantic import Field

from regard.base.recipe import Options


class GeneratedShapes(Options):
    """How many pictures or videos of coloured shapes are generated, each with captions that are true of it."""

    train: int = Field(20_000, ge=1, le=10**6, description="Pictures or videos to learn from.")
    valid: int = Field(1000, ge=2, le=10**6, description="Those to watch the training by.")
    test: int = Field(2000, ge=2, le=10**6, description="Those for the final scores.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of all of them; every split has its own.")
