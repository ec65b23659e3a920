"""Requests to look inside a model: attention, next token, beam and forward pass of one sentence."""

import re
from itertools import combinations
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from regard.base.edits import Edit
from regard.base.requests.fields import Count, LengthPenalty, Phrase
from regard.base.requests.rules import Clash, VerbRequest

Side = Literal["cross", "encoder", "decoder", "copying"]
_PLACE = r"[0-9]+(\.[0-9]+)*"  # of a layer among those around it, level by level
_ONE_OUTPUT = Clash("output", ("tokens",), "{output} and {tokens} both give the output; give one of the two.")


# Edits under which a model is looked at; a record has room for more, which a request does not need.
RequestEdits = Annotated[list[Edit], Field(min_length=1, max_length=64)]


def _check_place(place: str) -> str:
    if not re.fullmatch(_PLACE, place):
        raise ValueError("it is not the place of a layer, such as 3 or 3.0")
    return place


Place = Annotated[str, AfterValidator(_check_place), WithJsonSchema({"type": "string", "pattern": f"^{_PLACE}$"})]


class AttentionRequest(VerbRequest):
    """Which attention to show, for one sentence."""

    rules = (_ONE_OUTPUT,)

    text: Phrase = Field(description="The sentence that is read.")
    output: str | None = Field(default=None, description="The output to look at; by default the model's own.")
    tokens: list[str] | None = Field(default=None, description="The output to look at, by the names of its tokens.")
    sides: list[Side] | None = Field(
        default=None, min_length=1, description="Attentions to show; by default all that the model has."
    )
    mode: Literal["words", "tokens"] = Field(default="words", description="Units on the axes.")
    layers: list[Count] | None = Field(
        default=None, min_length=1, description="Blocks, counted from 1; by default all."
    )
    heads: Literal["all", "mean", "max"] = Field(default="all", description="Every head, or all heads joined.")
    edits: RequestEdits | None = Field(default=None, description="Edits under which the model writes again.")


class NextRequest(VerbRequest):
    """The place of the next token: after tokens, after a text, or along the best output."""

    rules = tuple(
        Clash(one, (other,), "{before}, {prefix} and {at} each choose the place; give one of them.")
        for one, other in combinations(("before", "prefix", "at"), 2)
    )

    text: Phrase = Field(description="The sentence that is read.")
    before: list[str] | None = Field(default=None, description="The tokens written so far, by name.")
    prefix: str | None = Field(default=None, description="The text written so far.")
    at: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(
        default=None, description="The place after this many tokens of the best output."
    )
    shown: int = Field(default=50, ge=1, le=200, description="Number of tokens to list by name.")
    kept: int = Field(default=4096, ge=1, le=65_536, description="Number of tokens whose log-probability is listed.")


class BeamRequest(VerbRequest):
    """The beam search to show as a tree, for one sentence."""

    text: Phrase = Field(description="The sentence that is read.")
    beam: Count | None = Field(default=None, description="Beam size; by default the recipe's.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Length penalty alpha; 0 is none.")


class ForwardRequest(VerbRequest):
    """Which numbers to show of the way of one sentence through a model, from tokens to logits."""

    rules = (_ONE_OUTPUT,)

    text: Phrase = Field(description="The sentence that is read.")
    output: str | None = Field(default=None, description="For translators: the output; by default the model's own.")
    tokens: list[str] | None = Field(
        default=None, description="For translators: the output, by the names of its tokens."
    )
    query: Count | None = Field(
        default=None, description="The token that is followed, counted from 1; by default the last, or the mask."
    )
    opened: list[Place] | None = Field(
        default=None,
        description="Places of the layers to send with their numbers and the layers inside, such as 3 and 3.0; by "
        "default all.",
    )
