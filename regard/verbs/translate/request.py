"""Requests for translations, and which options go together."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic.json_schema import JsonSchemaValue

from regard.base.faults import Fault
from regard.base.requests.fields import Count, Held, LengthPenalty, Phrase, Texts
from regard.base.requests.rules import Clash, ClashInside, Need, NoMore, OfOneText, OneForEach, VerbRequest
from regard.decoding.options import DrawOptions
from regard.engines.fast import CALLED, Choice
from regard.verbs.searches import OF_BEAMS, SearchTable

LongTexts = Literal["split", "truncate", "refuse"]
Weight = Annotated[float, Field(ge=0, le=1e6)]
ModelName = str | Held  # of another model: its name or its folder, or the model itself
SAMPLES = 32  # what minimum Bayes risk chooses among
FUSE_WEIGHT = 0.1  # how much a language model counts beside a translator
CHANNEL_WEIGHT = 1.0  # how much a model of the other direction counts where a beam is reranked
PRIOR_WEIGHT = 0.2  # and a language model beside it


def _check_metric(name: str) -> str:
    from regard.metrics.utilities import utility  # sacreBLEU is loaded when someone first asks for it

    utility(name)
    return name


def _name_metrics(schema: JsonSchemaValue) -> None:
    from regard.metrics.utilities import UTILITIES

    schema["anyOf"][0]["enum"] = list(UTILITIES)


OF_WHOLE_OUTPUTS = ("prefix", "before", "required", "forced")
_SEARCHING = ("beam", "length_penalty")
_WRITTEN_OTHERWISE = (
    *("sample", "mbr", "prefix", "before", "required", "forbidden", "vocabulary", "with"),
    *("fuse", "replace_unknown"),
)
BEYOND_A_PLAIN_BEAM = (*_WRITTEN_OTHERWISE, "channel", "forced")  # what torch alone can do
_DRAWN = "{other} is of a beam search, but {sample} and {mbr} draw; give one or the other."


class TranslateRequest(VerbRequest):
    """Texts to translate, and how; what is not given is as the model's recipe says."""

    rules = (
        *(Clash(draws, _SEARCHING, _DRAWN) for draws in ("sample", "mbr")),
        *(ClashInside(draws, "search", OF_BEAMS, _DRAWN) for draws in ("sample", "mbr")),
        *(
            Clash(draws, ("channel",), "{channel} reranks what the beam has found; omit {sample} and {mbr}.")
            for draws in ("sample", "mbr")
        ),
        Need("samples", "mbr", "{samples} says how many {mbr} chooses among; to get several samples give {n_best}."),
        NoMore("n_best", "samples", SAMPLES, "mbr", "{mbr} cannot give the {value} best of {limit}; raise {samples}."),
        Need(
            "dictionary",
            "replace_unknown",
            "{dictionary} would do nothing without {replace_unknown}.",
            is_described=False,
        ),
        Need("channel_weight", "channel", "{channel_weight} would do nothing without {channel}."),
        Clash(
            "forced",
            (*_SEARCHING, "search", "channel", "n_best", *_WRITTEN_OTHERWISE),
            "{forced} scores the outputs it is given and searches for none; omit {other}.",
        ),
        Clash(
            "before",
            [name for name in (*_WRITTEN_OTHERWISE, "channel") if name != "before"],
            "{before} goes on from exact tokens by beam search; omit {other}.",
        ),
        Clash(
            "split_sentences",
            OF_WHOLE_OUTPUTS,
            "{other} belongs to a whole output; omit {split_sentences}.",
            values=(True,),
        ),
        Clash("too_long", OF_WHOLE_OUTPUTS, "{other} belongs to a whole output; omit {too_long}.", values=("split",)),
        *(
            Clash(
                "engine",
                BEYOND_A_PLAIN_BEAM,
                f"{called} cannot do {{other}}; omit it, or set {{engine}} to torch.",
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
    too_long: LongTexts | None = Field(
        default=None,
        description="What to do with overlong sentences; the default is to split them, with the same exception.",
    )
    beam: Count | None = Field(default=None, description="Width of the beam; 1 is greedy search.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Its alpha.")
    n_best: Count | None = Field(default=None, description="Candidates for each sentence, best first.")
    search: SearchTable = Field(
        default_factory=dict, description="Any other option of the search, as in the decoding table of a recipe."
    )
    sample: DrawOptions | None = Field(default=None, description="Draw outputs at random, n_best of them.")
    mbr: Annotated[str, AfterValidator(_check_metric)] | None = Field(
        default=None,
        description="Choose among samples by minimum Bayes risk, by this metric.",
        json_schema_extra=_name_metrics,
    )
    samples: Annotated[int, Field(ge=2, lt=2**31)] | None = Field(
        default=None, description="Samples that mbr chooses among."
    )
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
    channel_weight: Weight | None = Field(default=None, description="How much it counts.")
    prior: str | None = Field(
        default=None, description="A language model of the outputs, by which the beam is reranked beside the channel."
    )
    prior_weight: Weight | None = Field(default=None, description="How much it counts.")
    fuse: str | None = Field(
        default=None, description="A language model of the same tokens, which has its say at each step of the search."
    )
    fuse_weight: Weight | None = Field(default=None, description="How much it counts; 0 is not at all.")
    replace_unknown: bool = Field(
        default=False,
        description="Whether an unknown word becomes the word of the text that the model looked at (models of words).",
    )
    dictionary: dict[str, str] = Field(
        default_factory=dict, description="What such words of the text become, where they do not stay as they are."
    )
    explain: bool = Field(default=True, description="Whether tokens, their scores and the alignment are wanted.")

    @classmethod
    def unchecked(cls, **fields: Any) -> "TranslateRequest":
        """Return a request for whole texts by torch, as Python makes it; fields that are None are left out.

        Its fields are checked where they are used: other models may be in hand (`Held`), `sample` is a table, and a
        beam may be given to what is drawn, which has none.
        """
        usual: dict[str, Any] = {"text": [], "engine": "torch", "split_sentences": False, "too_long": "refuse"}
        given = {name: value for name, value in fields.items() if value is not None}
        return cls.model_construct(**usual | given)

    def with_checked(self, **fields: Any) -> "TranslateRequest":
        """Return this request of Python's with further fields, which are checked; those that are None are left out.

        A beam beside `sample` stays allowed, as `unchecked` says.
        """
        given = {name: value for name, value in fields.items() if value is not None}
        read = type(self).read({"text": self.text, **given})
        changed = {name: getattr(read, name) for name in given}
        asked = self.model_copy(update=changed)
        if any(value != getattr(self, name) for name, value in changed.items()):
            drawn = {"beam": None, "length_penalty": None} if self.sample is not None else {}
            asked.model_copy(update=drawn).refuse_clashes()
        return asked

    @property
    def draws(self) -> bool:
        """True if outputs are sampled."""
        return self.sample is not None or self.mbr is not None

    @property
    def is_of_whole_outputs(self) -> bool:
        """True if something is asked of whole outputs, so that texts are not cut unless told to."""
        return any(getattr(self, name) is not None for name in OF_WHOLE_OUTPUTS)

    @property
    def splits_sentences(self) -> bool:
        return not self.is_of_whole_outputs if self.split_sentences is None else self.split_sentences

    @property
    def long_texts(self) -> LongTexts:
        """Treatment of texts that are too long."""
        return self.too_long or ("refuse" if self.is_of_whole_outputs else "split")


def helpers_of(
    fuse: object = None,
    fuse_weight: float | None = None,
    channel: object = None,
    channel_weight: float | None = None,
    prior: object = None,
    prior_weight: float | None = None,
) -> dict[str, Any]:
    """Return fields of a request for models that help a translator: in hand, or in their folders.

    A language model to `fuse` with has its say at each step. A `channel`, which is a translator of the other direction,
    and a language model `prior` rank what the beam has found.
    """
    models = {"fuse": fuse, "channel": channel, "prior": prior}
    weights = {"fuse_weight": fuse_weight, "channel_weight": channel_weight, "prior_weight": prior_weight}
    named = {name: _name_of(model) for name, model in models.items()}
    refuse_idle(TranslateRequest.unchecked(**named, **weights))
    return {name: (named | weights)[name] for kind in models for name in (kind, f"{kind}_weight")}


def _name_of(model: object) -> ModelName | None:
    if model is None:
        return None
    return str(Path(model)) if isinstance(model, str | Path) else Held(model)


def refuse_idle(request: TranslateRequest) -> None:
    """Refuse what would do nothing; as rules of a request these are too many for generators of requests."""
    if request.dictionary and not request.replace_unknown:
        raise Fault("dictionary would do nothing without replace_unknown.")
    if request.prior is not None and request.channel is None:
        raise Fault("A prior reranks beside a channel model; name a channel model too.")
    if request.prior_weight is not None and request.prior is None:
        raise Fault("The weight of a prior would do nothing without a prior.")
    if request.fuse_weight is not None and request.fuse is None:
        raise Fault("The weight of a fusion would do nothing without a language model to fuse with.")
    if request.channel_weight is not None and request.channel is None:
        raise Fault("The weight of a channel model would do nothing without a channel model.")
    if request.channel is not None and request.draws:
        raise Fault("A channel model reranks what the beam has found; do not sample.")
