"""Recipe options for generated shapes."""

from pydantic import Field

from regard.base.recipe import Options


class GeneratedShapes(Options):
    """Numbers of generated pictures or videos of coloured shapes, each with true captions."""

    train: int = Field(20_000, ge=1, le=10**6, description="Number of training pictures or videos.")
    valid: int = Field(1000, ge=2, le=10**6, description="Number of validation pictures or videos.")
    test: int = Field(2000, ge=2, le=10**6, description="Number of test pictures or videos.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed for all splits; each split gets different pictures.")
