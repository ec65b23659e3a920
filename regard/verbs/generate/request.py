"""Requests to a language model: continue a prompt, or read one."""

from typing import Annotated, Literal

from pydantic import Field

from regard.base.requests.fields import Count, InHand, LengthPenalty, Texts
from regard.base.requests.rules import Clash, ClashInside, VerbRequest
from regard.decoding.options import DrawOptions
from regard.engines.fast import CANNOT, TextChoice
from regard.verbs.searches import OF_BEAMS, SearchTable

_OF_BEAM_SEARCH = ("beam", "length_penalty", "n_best")
_DRAWN = "{other} is for beam search, but sampling draws at random; give options of one or the other."


WhenFull = Literal["stop", "forget"]
LOOKUP = "lookup"  # the draft that needs no model


class PromptRequest(VerbRequest):
    """A prompt whose token probabilities and next tokens are wanted."""

    prompt: str = Field(default="", description="The beginning of the text; may be empty.")
    shown: int = Field(default=50, ge=1, le=200, description="Number of next tokens to list.")
    sample: DrawOptions | None = Field(
        default=None, description="Sampling options, to give the probabilities under them too."
    )
    when_full: WhenFull | None = Field(
        default=None,
        description="If the prompt is longer than the model's context: refuse it, or forget the older half. By default "
        "as in the model's recipe.",
    )


class GenerateRequest(VerbRequest):
    """Prompts to continue, and how.

    Texts are sampled unless a beam option is given.
    """

    verb, items = "generate", "prompt"
    rules = (
        *(Clash(draws, _OF_BEAM_SEARCH, _DRAWN) for draws in ("sample", "samples")),
        Clash("engine", ("draft",), CANNOT % "onnxruntime", values=("onnx",)),
        *(ClashInside(draws, "search", OF_BEAMS, _DRAWN) for draws in ("sample", "samples")),
    )

    prompt: Texts = Field(default=[""], description="The beginning of the text: one prompt or several; may be empty.")
    tokens: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=100, description="Maximum number of tokens to write after the prompt."
    )
    past_end: bool = Field(default=False, description="Continue past the end of a line, until `tokens` are written.")
    when_full: WhenFull | None = Field(
        default=None,
        description="When the model's context is full: stop, or forget its older half. By default as in the model's "
        "recipe.",
    )
    samples: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Number of texts to sample for each prompt."
    )
    sample: DrawOptions | None = Field(default=None, description="Sampling options.")
    beam: Count | None = Field(default=None, description="Beam size; 1 is greedy search.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Length penalty alpha; 0 is none.")
    n_best: Count | None = Field(default=None, description="Number of texts from the beam for each prompt, best first.")
    search: SearchTable = Field(
        default_factory=dict, description="Other search options, as in the decoding table of a recipe."
    )
    engine: TextChoice = Field(default="auto", description="Engine; auto uses an ONNX export if there is one.")
    draft: str | InHand | None = Field(
        default=None,
        description="Speculate with a draft: lookup, or a smaller model with the same vocabulary. It gives the same "
        "texts in fewer passes, by sampling or greedy search.",
    )

    @property
    def draws(self) -> bool:
        """True if texts are sampled."""
        return not self.has_any(*_OF_BEAM_SEARCH) and self.search.keys().isdisjoint(OF_BEAMS)
