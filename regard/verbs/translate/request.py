"""Requests for translations, and which options go together."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic.json_schema import JsonSchemaValue

from regard.base.faults import Fault
from regard.base.requests.fields import Count, Held, LengthPenalty, Phrase, Texts
from regard.base.requests.rules import Clash, ClashInside, Need, NoMore, OfOneText, OneForEach, VerbRequest
from regard.decoding.options import DrawOptions
from regard.engines.fast import CALLED, CANNOT, Choice
from regard.verbs.searches import OF_BEAMS, SearchTable

LongTexts = Literal["split", "truncate", "refuse"]
Weight = Annotated[float, Field(ge=0, le=1e6)]
ModelName = str | Held  # another model: its name or folder, or the loaded model
SAMPLES = 32  # number of samples for minimum Bayes risk
FUSE_WEIGHT = 0.1  # weight of a language model in the search
CHANNEL_WEIGHT = 1.0  # weight of a reverse model that reranks the beam
DRAFTS = ("lookup", "source")  # drafts that need no model
PRIOR_WEIGHT = 0.2  # weight of a language model that reranks with it


def _check_metric(name: str) -> str:
    from regard.metrics.utilities import utility  # loads sacreBLEU only when needed

    utility(name)
    return name


def _name_metrics(schema: JsonSchemaValue) -> None:
    from regard.metrics.utilities import UTILITIES

    schema["anyOf"][0]["enum"] = list(UTILITIES)


OF_WHOLE_OUTPUTS = ("prefix", "before", "required", "forced")
_SEARCHING = ("beam", "length_penalty")
_WRITTEN_OTHERWISE = (
    *("mbr", "sample", "prefix", "before", "required", "forbidden", "vocabulary", "with"),
    *("fuse", "replace_unknown"),
)
BEYOND_A_PLAIN_BEAM = (*_WRITTEN_OTHERWISE, "channel", "forced", "draft")  # only torch can do these
_UNDRAFTED = ("mbr", "required", "with", "fuse", "channel")  # searches that a draft cannot help
_DRAWN = "{other} is for beam search, but {sample} and {mbr} sample; give one or the other."


class TranslateRequest(VerbRequest):
    """Texts to translate, and how; defaults come from the model's recipe."""

    rules = (
        *(Clash(draws, _SEARCHING, _DRAWN) for draws in ("sample", "mbr")),
        *(ClashInside(draws, "search", OF_BEAMS, _DRAWN) for draws in ("sample", "mbr")),
        *(
            Clash(draws, ("channel",), "{channel} reranks the outputs of a beam; omit {sample} and {mbr}.")
            for draws in ("sample", "mbr")
        ),
        Need(
            "samples", "mbr", "{samples} is the number that {mbr} chooses among; to get several samples, give {n_best}."
        ),
        NoMore("n_best", "samples", SAMPLES, "mbr", "{mbr} cannot give the {value} best of {limit}; raise {samples}."),
        Need(
            "dictionary",
            "replace_unknown",
            "{dictionary} has no effect without {replace_unknown}.",
            is_described=False,
        ),
        Need("channel_weight", "channel", "{channel_weight} has no effect without {channel}."),
        Clash(
            "draft",
            _UNDRAFTED,
            "{draft} helps one model to write by greedy search or sampling; omit {other}.",
            is_described=False,
        ),
        Clash(
            "forced",
            (*_SEARCHING, "search", "channel", "n_best", "draft", *_WRITTEN_OTHERWISE),
            "{forced} scores given outputs instead of searching; omit {other}.",
        ),
        Clash(
            "before",
            [name for name in (*_WRITTEN_OTHERWISE, "channel", "draft") if name != "before"],
            "{before} continues exact tokens by beam search; omit {other}.",
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
                CANNOT % called,
                values=(engine,),
            )
            for engine, called in CALLED.items()
        ),
        OfOneText("before"),
        OneForEach("prefix"),
        OneForEach("forced"),
        OneForEach("required", nests=True),
    )

    text: Texts = Field(description="One text or several; each may have many sentences and lines.")
    engine: Choice = Field(default="auto", description="Translation engine.")
    split_sentences: bool | None = Field(
        default=None,
        description="Translate each sentence separately. This is the default unless a field constrains whole outputs.",
    )
    too_long: LongTexts | None = Field(
        default=None,
        description="What to do with sentences that are too long. They are split by default, with the same exception.",
    )
    beam: Count | None = Field(default=None, description="Beam size; 1 is greedy search.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Length penalty alpha; 0 is none.")
    n_best: Count | None = Field(default=None, description="Number of candidates for each sentence, best first.")
    search: SearchTable = Field(
        default_factory=dict, description="Other search options, as in the decoding table of a recipe."
    )
    sample: DrawOptions | None = Field(default=None, description="Sampling options; n_best outputs are sampled.")
    mbr: Annotated[str, AfterValidator(_check_metric)] | None = Field(
        default=None,
        description="Choose among samples by minimum Bayes risk under this metric.",
        json_schema_extra=_name_metrics,
    )
    samples: Annotated[int, Field(ge=2, lt=2**31)] | None = Field(
        default=None, description="Number of samples that mbr chooses among."
    )
    prefix: Texts | None = Field(
        default=None, description="Prefixes of the outputs: one for all, or one for each text."
    )
    before: list[str] | None = Field(
        default=None, description="The first tokens of the output, by name; for a single text."
    )
    required: list[Phrase] | list[list[Phrase]] | None = Field(
        default=None, description="Phrases that every output must contain, or a list for each text."
    )
    forbidden: list[Phrase] = Field(default_factory=list, description="Phrases that no output may contain.")
    vocabulary: list[str] | None = Field(default=None, description="Use only tokens that occur in these texts.")
    forced: Texts | None = Field(default=None, description="Score these outputs instead of searching.")
    together: list[str] = Field(
        default_factory=list, alias="with", description="Models with the same vocabulary for an ensemble."
    )
    channel: str | None = Field(default=None, description="A model of the reverse direction that reranks the beam.")
    channel_weight: Weight | None = Field(default=None, description="Weight of the channel model.")
    prior: str | None = Field(
        default=None, description="With channel: a language model of the target side that reranks too."
    )
    prior_weight: Weight | None = Field(default=None, description="Weight of the prior.")
    fuse: str | None = Field(
        default=None, description="A language model with the same vocabulary, mixed in at each step (shallow fusion)."
    )
    fuse_weight: Weight | None = Field(
        default=None, description="Weight of the language model to fuse with; 0 turns it off."
    )
    draft: str | None = Field(
        default=None,
        description="Speculate with a draft: lookup, source, or a smaller model with the same vocabulary. It gives the "
        "same outputs in fewer passes, by greedy search unless outputs are sampled.",
    )
    replace_unknown: bool = Field(
        default=False,
        description="Replace an unknown word by the source word with the most attention (for models of words).",
    )
    dictionary: dict[str, str] = Field(
        default_factory=dict, description="Translations for such source words; others are copied."
    )
    explain: bool = Field(default=True, description="Include tokens, their scores and the alignment.")

    @classmethod
    def unchecked(cls, **fields: Any) -> "TranslateRequest":
        """Return a request from Python, for whole texts with torch; fields that are None are omitted.

        Its fields are checked where they are used: other models may be loaded ones (`Held`), `sample` is a table, and a
        beam may be given along with sampling, which ignores it.
        """
        defaults: dict[str, Any] = {"text": [], "engine": "torch", "split_sentences": False, "too_long": "refuse"}
        fields_given = {name: value for name, value in fields.items() if value is not None}
        return cls.model_construct(**defaults | fields_given)

    def with_checked(self, **fields: Any) -> "TranslateRequest":
        """Return this request from Python with further fields, which are checked; those that are None are omitted.

        A beam together with `sample` is still allowed, as in `unchecked`.
        """
        fields_given = {name: value for name, value in fields.items() if value is not None}
        checked = type(self).read({"text": self.text, **fields_given})
        changes = {name: getattr(checked, name) for name in fields_given}
        request = self.model_copy(update=changes)
        if any(value != getattr(self, name) for name, value in changes.items()):
            ignored = {"beam": None, "length_penalty": None} if self.sample is not None else {}
            request.model_copy(update=ignored).refuse_clashes()
        return request

    @property
    def draws(self) -> bool:
        """True if outputs are sampled."""
        return self.sample is not None or self.mbr is not None

    @property
    def is_of_whole_outputs(self) -> bool:
        """True if a field constrains whole outputs, so that texts are not split by default."""
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
    draft: object = None,
) -> dict[str, Any]:
    """Return the request fields for models that help a translator; they may be loaded models or folders.

    The language model `fuse` takes part in each step of the search. `channel`, a translator of the reverse direction,
    and the language model `prior` rerank the outputs of the beam. A `draft` proposes tokens: a model, or one of
    `DRAFTS`.
    """
    models = {"fuse": fuse, "channel": channel, "prior": prior}
    weights = {"fuse_weight": fuse_weight, "channel_weight": channel_weight, "prior_weight": prior_weight}
    names = {name: _name_of(model) for name, model in models.items()}
    refuse_idle(TranslateRequest.unchecked(**names, **weights))
    given = {name: (names | weights)[name] for kind in models for name in (kind, f"{kind}_weight")}
    return given | {"draft": _name_of(draft)}


def _name_of(model: object) -> ModelName | None:
    if model is None:
        return None
    return str(Path(model)) if isinstance(model, str | Path) else Held(model)


def refuse_idle(request: TranslateRequest) -> None:
    """Refuse options without effect; as rules of a request these would be too many for request generators."""
    if request.dictionary and not request.replace_unknown:
        raise Fault("dictionary has no effect without replace_unknown.")
    if request.prior is not None and request.channel is None:
        raise Fault("A prior reranks together with a channel model; name a channel model too.")
    if request.prior_weight is not None and request.prior is None:
        raise Fault("The weight of a prior has no effect without a prior.")
    if request.fuse_weight is not None and request.fuse is None:
        raise Fault("The weight of a fusion has no effect without a language model to fuse with.")
    if request.channel_weight is not None and request.channel is None:
        raise Fault("The weight of a channel model has no effect without a channel model.")
    if request.channel is not None and request.draws:
        raise Fault("A channel model reranks the outputs of a beam; do not sample.")
