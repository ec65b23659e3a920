"""How an output is chosen."""

from pydantic import Field, model_validator

from regard.recipe import Options


class DecodingOptions(Options):
    """Beam search and its penalties; a beam of one is greedy search."""

    beam: int = Field(default=4, ge=1, le=64, description="Hypotheses kept alive; 1 is greedy search.")
    length_penalty: float = Field(
        default=0.6, ge=0, le=5, description="Alpha of Wu et al. 2016: scores are divided by ((5 + length) / 6)^alpha."
    )
    n_best: int = Field(default=1, ge=1, description="Outputs given for each input, best first; at most the beam.")
    longest_ratio: float = Field(
        default=2.0, gt=0, description="An output has at most this many tokens per input token, and longest_extra more."
    )
    longest_extra: int = Field(default=20, ge=1, description="See longest_ratio.")

    @model_validator(mode="after")
    def _check_candidates(self) -> "DecodingOptions":
        if self.n_best > self.beam:
            raise ValueError(f"a beam of {self.beam} cannot give the {self.n_best} best; widen it")
        return self
