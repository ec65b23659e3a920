"""Requests to a language model: continue a prompt, or read one."""

from typing import Annotated, Literal

from pydantic import Field

from regard.base.requests.fields import Count, LengthPenalty, Texts
from regard.base.requests.rules import Clash, ClashInside, VerbRequest
from regard.decoding.options import DrawOptions
from regard.verbs.searches import OF_BEAMS, SearchTable

_OF_BEAM_SEARCH = ("beam", "length_penalty", "n_best")
_DRAWN = "{other} is of a beam search, but {%s} draws at random; give one or the other."


WhenFull = Literal["stop", "forget"]


class PromptRequest(VerbRequest):
    """A prompt: how probable it is, token by token, and what may come next."""

    prompt: str = Field(default="", description="What the text begins with; may be empty.")
    shown: int = Field(default=50, ge=1, le=200, description="Tokens that may come next and have names.")
    sample: DrawOptions | None = Field(default=None, description="What drawing so would leave of their probabilities.")
    when_full: WhenFull | None = Field(
        default=None,
        description="What is done with a prompt that is longer than the context of a model that has one: refuse it, or "
        "forget the older half; by default as its recipe says.",
    )


class GenerateRequest(VerbRequest):
    """Prompts to continue, and how.

    Outputs are drawn at random, unless something is said of a beam.
    """

    verb, items = "generate", "prompt"
    rules = (
        *(Clash(draws, _OF_BEAM_SEARCH, _DRAWN % draws) for draws in ("sample", "samples")),
        *(ClashInside(draws, "search", OF_BEAMS, _DRAWN % draws) for draws in ("sample", "samples")),
    )

    prompt: Texts = Field(default=[""], description="What the text begins with: one prompt, or several; may be empty.")
    tokens: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=100, description="The most tokens that are written after the prompt."
    )
    past_end: bool = Field(
        default=False, description="Go on past the end of a line with the next, as far as the tokens reach."
    )
    when_full: WhenFull | None = Field(
        default=None,
        description="When the context of a model that has one is full: stop there, or forget the older half of it; "
        "by default as its recipe says.",
    )
    samples: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Texts that are drawn for each prompt."
    )
    sample: DrawOptions | None = Field(default=None, description="How texts are drawn at random.")
    beam: Count | None = Field(default=None, description="Width of the beam; 1 is greedy search.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Its alpha.")
    n_best: Count | None = Field(default=None, description="Texts that the beam gives for each prompt, best first.")
    search: SearchTable = Field(
        default_factory=dict, description="Any other option of the search, as in the decoding table of a recipe."
    )

    @property
    def draws(self) -> bool:
        """True if texts are sampled."""
        return not self.has_any(*_OF_BEAM_SEARCH) and self.search.keys().isdisjoint(OF_BEAMS)
