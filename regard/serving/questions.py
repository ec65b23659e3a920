"""What requests to /v1 ask for, and what goes together; the description of the interface is made from these."""

from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, create_model
from pydantic.json_schema import JsonSchemaValue

from regard.base.faults import Fault
from regard.base.recipe import Options, check
from regard.decoding.options import DecodingOptions
from regard.engines.fast import CALLED, Choice
from regard.serving.agreement import Agreeing, Clash, Need, OfOneText, OneForEach

Side = Literal["cross", "encoder", "decoder"]
Count = Annotated[int, Field(ge=1)]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_ONE_OR_MORE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Texts = Annotated[list[str], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("nothing is written in it; give some text")
    return text


# Python's own notion of white space, which is neither that of JSON Schema nor that of pydantic's patterns.
_INK = r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
Phrase = Annotated[str, AfterValidator(_not_blank), WithJsonSchema({"type": "string", "pattern": _INK})]

_NAMED = ("beam", "length_penalty", "n_best", "sampling")  # options of the search with fields of their own
_SEARCH = create_model(
    "SearchQuestion",
    __base__=Options,
    __doc__="Any other option of the search, as in the decoding table of a recipe.",
    **{  # type: ignore[call-overload]  # which fields it has is known at run time alone
        name: (field.annotation, field) for name, field in DecodingOptions.model_fields.items() if name not in _NAMED
    },
)


def _search(options: dict[str, Any]) -> dict[str, Any]:
    if clash := [name for name in options if name in _NAMED]:
        raise Fault(f"'{clash[0]}' has a field of its own; give it there, not in 'search'.")
    check(_SEARCH, options, "the search")
    return options


def _metric(name: str) -> str:
    from regard.metrics.sentences import utility  # sacreBLEU is loaded when someone first asks for it

    utility(name)
    return name


def _name_metrics(schema: JsonSchemaValue) -> None:
    from regard.metrics.sentences import UTILITIES

    schema["anyOf"][0]["enum"] = list(UTILITIES)


class Sampling(Options):
    """How outputs are drawn."""

    temperature: float = Field(default=1.0, ge=0, le=100, description="Below 1 is cautious, above 1 bold.")
    top_k: int = Field(default=0, ge=0, lt=2**31, description="Only so many most probable tokens; 0 is all.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="The fewest tokens that reach this probability.")
    min_p: float = Field(default=0.0, ge=0, le=1, description="Tokens at least this fraction as probable as the best.")
    typical: float = Field(default=1.0, gt=0, le=1, description="The most typical tokens that reach this probability.")
    seed: int = Field(default=1, ge=0, lt=2**63, description="What is drawn depends on it.")


class Question(Agreeing):
    """Which model is asked."""

    model: str | None = Field(default=None, description="The name of a model; without it, the languages choose.")
    source: str | None = Field(default=None, description="The language of the text, or auto.")
    target: str | None = Field(default=None, description="The language to translate into.")
    api_key: str | None = Field(default=None, description="The key, where one is needed.")


OF_WHOLE_OUTPUTS = ("prefix", "before", "required", "forced")
_SEARCHING = ("beam", "length_penalty", "search", "channel")
_WRITTEN_OTHERWISE = ("sample", "mbr", "prefix", "before", "required", "forbidden", "vocabulary", "with")
BEYOND_A_PLAIN_BEAM = (*_WRITTEN_OTHERWISE, "channel", "forced")  # what torch alone can do


class TranslateQuestion(Question):
    """What is to be translated, and how; what is not given is as the model's recipe says."""

    rules = (
        *(
            Clash(draws, _SEARCHING, "'{other}' is of a search, and 'sample' and 'mbr' draw; give one or the other.")
            for draws in ("sample", "mbr")
        ),
        Need("samples", "mbr", "'samples' says how many 'mbr' chooses among; to get several samples give 'n_best'."),
        Need("channel_weight", "channel", "'channel_weight' would do nothing without 'channel'."),
        Clash(
            "forced",
            (*_SEARCHING, "n_best", *_WRITTEN_OTHERWISE),
            "'forced' scores the outputs it is given and searches for none; leave '{other}' away.",
        ),
        Clash(
            "before",
            [name for name in (*_WRITTEN_OTHERWISE, "channel") if name != "before"],
            "'before' goes on from exact tokens by beam search; leave '{other}' away.",
        ),
        Clash(
            "split_sentences",
            OF_WHOLE_OUTPUTS,
            "'{other}' belongs to a whole output; leave 'split_sentences' away.",
            values=(True,),
        ),
        *(
            Clash(
                "engine",
                BEYOND_A_PLAIN_BEAM,
                f"{called} cannot do '{{other}}'; leave it away, or ask for torch.",
                values=(engine,),
            )
            for engine, called in CALLED.items()
        ),
        OfOneText("before"),
        OneForEach("prefix"),
        OneForEach("forced"),
        OneForEach("required", nests=True),
    )

    text: Texts = Field(description="A text, or several; each may have many sentences and lines.")
    engine: Choice = Field(default="auto", description="What computes.")
    split_sentences: bool | None = Field(
        default=None, description="Each sentence by itself; the default, but where something is asked of whole outputs."
    )
    too_long: Literal["split", "refuse"] = Field(default="split", description="What to do with overlong sentences.")
    beam: Count | None = Field(default=None, description="Width of the beam; 1 is greedy search.")
    length_penalty: Annotated[float, Field(ge=0, le=5)] | None = Field(default=None, description="Its alpha.")
    n_best: Count | None = Field(default=None, description="Candidates for each sentence, best first.")
    search: Annotated[dict[str, Any], AfterValidator(_search), WithJsonSchema(_SEARCH.model_json_schema())] = Field(
        default_factory=dict, description="Any other option of the search, as in the decoding table of a recipe."
    )
    sample: Sampling | None = Field(default=None, description="Draw outputs at random, n_best of them.")
    mbr: Annotated[str, AfterValidator(_metric)] | None = Field(
        default=None,
        description="Choose among samples by minimum Bayes risk, by this metric.",
        json_schema_extra=_name_metrics,
    )
    samples: Annotated[int, Field(ge=2)] | None = Field(default=None, description="Samples that mbr chooses among.")
    prefix: Texts | None = Field(default=None, description="What outputs begin with: one for all, or one for each.")
    before: list[str] | None = Field(
        default=None, description="The tokens, by name, that the output of the one text begins with."
    )
    required: list[Phrase] | list[list[Phrase]] | None = Field(
        default=None, description="Phrases that every output must have, or a list for each text."
    )
    forbidden: list[Phrase] = Field(default_factory=list, description="Phrases that no output may have.")
    vocabulary: list[str] | None = Field(default=None, description="Write with the tokens of these texts alone.")
    forced: Texts | None = Field(default=None, description="Score these outputs instead of searching for any.")
    together: list[str] = Field(
        default_factory=list, alias="with", description="Models of the same tokens that write along."
    )
    channel: str | None = Field(default=None, description="A model of the other direction, which reranks the beam.")
    channel_weight: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        default=None, description="How much it counts."
    )
    explain: bool = Field(default=True, description="Whether tokens, their scores and the alignment are wanted.")
    stream: bool = Field(default=False, description="Answer sentence by sentence, by server-sent events.")


class AttentionQuestion(Question):
    """Which attention is wanted, for one sentence."""

    rules = (Clash("output", ("tokens",), "'output' and 'tokens' both say what is written; give one of the two."),)

    text: Phrase = Field(description="The sentence that is read.")
    output: str | None = Field(default=None, description="The output to look at; by default the model's own.")
    tokens: list[str] | None = Field(default=None, description="The same by the names of its tokens.")
    sides: list[Side] | None = Field(default=None, min_length=1, description="By default all that the model has.")
    mode: Literal["words", "tokens"] = Field(default="words", description="What stands on the axes.")
    layers: list[Count] | None = Field(default=None, min_length=1, description="Blocks, from 1; by default all.")
    heads: Literal["all", "mean", "max"] = Field(default="all", description="Every head, or all joined.")


class NextQuestion(Question):
    """The place at which the next token is wanted: after tokens, after a text, or along the best output."""

    rules = tuple(
        Clash(one, (other,), "'before', 'prefix' and 'at' each say where; give one of them.")
        for one, other in combinations(("before", "prefix", "at"), 2)
    )

    text: Phrase = Field(description="The sentence that is read.")
    before: list[str] | None = Field(default=None, description="The tokens written so far, by name.")
    prefix: str | None = Field(default=None, description="The text written so far.")
    at: Annotated[int, Field(ge=0)] | None = Field(default=None, description="So many tokens of the best output.")
    shown: int = Field(default=50, ge=1, le=200, description="Tokens that have names.")
    kept: int = Field(default=4096, ge=1, le=65_536, description="Tokens that have a probability of their own.")


class BeamQuestion(Question):
    """The beam search that is wanted as a tree, for one sentence."""

    text: Phrase = Field(description="The sentence that is read.")
    beam: Count | None = Field(default=None, description="Width of the beam.")
    length_penalty: Annotated[float, Field(ge=0, le=5)] | None = Field(default=None, description="Its alpha.")
