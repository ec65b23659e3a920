"""Requests to look inside a model: attention, next token, beam, forward pass, reasons and nearest examples."""

import re
from itertools import combinations
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, WithJsonSchema

from regard.base.edits import Edit
from regard.base.requests.fields import Count, LengthPenalty, Phrase
from regard.base.requests.rules import Clash, Need, VerbRequest
from regard.verbs.answer.request import Input

# Ways to explain a decision: scores of the input's units, all of those, or what happens inside the model.
Method = Literal[
    "attention", "rollout", "flow", "gradient", "input-x-gradient", "integrated-gradients", "occlusion",
    "leave-one-out", "lens", "patching", "heads", "units", "all",
]  # fmt: skip
_INSIDE = ("lens", "patching", "heads", "units")
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


class DecisionRequest(VerbRequest):
    """The decision to explain, and the method."""

    rules = (
        _ONE_OUTPUT,
        Clash(
            "method",
            ("trust",),
            "Only scores of the input's units can be trusted or not, and this method gives none; omit {trust}.",
            _INSIDE,
        ),
        *(
            rule
            for names, method, sentence in (
                (("layer", "head"), "attention", "{layer} and {head} choose an attention; they go with that method."),
                (("from",), "patching", "{from} gives the states for patching; it goes with that method."),
            )
            for rule in (
                *(Need(name, "method", sentence) for name in names),
                Clash("method", names, sentence, [other for other in get_args(Method) if other != method]),
            )
        ),
    )

    input: Input = Field(description="What the model reads: a text, a node number, a picture, a sound.")
    method: Method = Field(
        default="integrated-gradients",
        description="How to explain: scores of the input's units by one method or all, or what happens inside.",
    )
    output: str | None = Field(
        default=None, description="The output to explain, or a class; by default the model's own."
    )
    tokens: list[str] | None = Field(
        default=None, description="For translators: the output, by the names of its tokens."
    )
    place: Count | None = Field(
        default=None, description="The token of the output, counted from 1; by default the last with a letter."
    )
    word: Phrase | None = Field(
        default=None, description="The word of the output; with a place, the one that this token belongs to."
    )
    mode: Literal["words", "tokens"] = Field(
        default="tokens", description="What a place chooses: this token, or the whole word that it belongs to."
    )
    layer: Count | None = Field(default=None, description="For attention: the block, counted from 1.")
    head: Count | None = Field(default=None, description="For attention: the head; by default all, joined.")
    other: Input | None = Field(
        default=None, alias="from", description="For patching: the input whose states are put into this one."
    )
    trust: bool = Field(
        default=False, description="Also say how far to trust the scores, compared with chance and the truth."
    )


class ExamplesRequest(VerbRequest):
    """A text, and how to find the training examples whose states are nearest to its own."""

    text: Phrase = Field(description="The text that is read.")
    examples: int = Field(default=5, ge=1, le=50, description="Number of examples for each place.")
    states: Literal["encoder", "decoder"] | None = Field(
        default=None, description="For translators: words that are read, or tokens that are written (the default)."
    )
    output: str | None = Field(default=None, description="For translators: the output; by default the model's own.")
    at: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(
        default=None, description="For translators: only the place after this many tokens or words."
    )
    by: Literal["cosine", "l2"] = Field(default="cosine", description="How states are compared.")
    from_lines: Count | None = Field(
        default=None, description="Most training texts to compare with; by default as many as the server allows."
    )
