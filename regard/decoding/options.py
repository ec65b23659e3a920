"""Decoding options."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.faults import Fault
from regard.base.recipe import Options, check


class DrawOptions(Options):
    """Sampling options; the steps from temperature to typical are applied in the order of the fields."""

    seed: int = Field(default=1, ge=0, lt=2**63, description="Samples depend on it, the line and the sample number.")
    temperature: float = Field(
        default=1.0,
        ge=0,
        le=100,
        description="Divides log-probabilities; below 1 is cautious, above 1 bold, 0 is greedy search.",
    )
    top_k: int = Field(
        default=0, ge=0, lt=2**31, description="Sample from this many most probable tokens; 0: from all."
    )
    top_p: float = Field(
        default=1.0, gt=0, le=1, description="Sample from the fewest tokens whose probability reaches this."
    )
    min_p: float = Field(
        default=0.0, ge=0, le=1, description="Sample from tokens at least this fraction as probable as the best."
    )
    typical: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Sample from the fewest tokens reaching this probability whose surprise is nearest the entropy.",
    )


class SamplingOptions(DrawOptions):
    """Options for sampling outputs."""

    samples: int = Field(default=1, ge=1, le=10_000, description="Outputs sampled for each input.")


class DecodingOptions(Options):
    """Beam search, its penalties and its rules; a beam of one is greedy search."""

    beam: int = Field(default=4, ge=1, le=64, description="Beam size; 1 is greedy search.")
    length_penalty: float = Field(
        default=0.6, ge=0, le=5, description="Alpha of the length penalty: higher prefers longer outputs."
    )
    length_penalty_kind: Literal["wu", "average", "none"] = Field(
        default="wu", description="Scores are divided by ((5 + length) / 6)^alpha (Wu et al. 2016), length^alpha, or 1."
    )
    coverage_penalty: float = Field(
        default=0.0, ge=0, description="Beta of Wu et al. 2016: cost of ignoring source tokens."
    )
    ctc: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Weight of CTC next to the decoder, for a translator trained with model.ctc; 1: CTC alone.",
    )
    stop: Literal["settled", "first", "exhaustive"] = Field(
        default="settled",
        description=(
            "End when no living hypothesis beats the finished ones at its present length, when enough are finished, or "
            "when none could at any length."
        ),
    )
    nested: bool = Field(
        default=False,
        description="Nest narrower beams inside wider ones, so that with stop = exhaustive a wider one is never worse.",
    )
    groups: int = Field(default=1, ge=1, description="Groups of a diverse beam (Vijayakumar et al. 2018); 1: none.")
    diversity: float = Field(
        default=0.5, ge=0, description="Cost of a token for a group per hypothesis of earlier groups that wrote it."
    )
    n_best: int = Field(default=1, ge=1, description="Outputs for each input, best first; at most the beam size.")
    shortest: int = Field(default=0, ge=0, description="Fewest tokens of an output, without its end.")
    longest_ratio: float = Field(
        default=2.0,
        gt=0,
        le=1000,
        description="Most tokens of an output per input token, plus longest_extra.",
    )
    longest_extra: int = Field(default=20, ge=1, le=100_000, description="See longest_ratio.")
    repetition_penalty: float = Field(
        default=1.0, ge=1, description="Multiplies the log-probabilities of tokens already written; 1: no penalty."
    )
    unrepeated: int = Field(default=0, ge=0, description="Write no sequence of this many tokens twice; 0: no limit.")
    form: Literal["text", "tree"] = Field(
        default="text",
        description="What outputs are: any text, or only trees over the words of the input, as lines of brackets.",
    )
    sampling: SamplingOptions = Field(default_factory=SamplingOptions, description="How outputs are sampled.")

    @model_validator(mode="after")
    def _check_candidates(self) -> "DecodingOptions":
        if self.n_best > self.beam:
            raise ValueError(f"a beam of {self.beam} cannot give the {self.n_best} best; widen it")
        if self.beam % self.groups:
            raise ValueError(f"a beam of {self.beam} cannot be divided into {self.groups} groups; make it a multiple")
        if self.nested and self.groups > 1:
            raise ValueError("a nested beam has no groups; set groups to 1 or nested to false")
        return self

    def limit(self, tokens: int, longest: int) -> int:
        """Return the most tokens an output may have, with its end, for an input of `tokens` tokens; never more than
        `longest`.
        """
        return min(int(tokens * self.longest_ratio + 1e-9) + self.longest_extra, longest)

    def beam_for(self, outputs: int) -> int:
        """Return the beam if it is wide enough for this many outputs, else the next that its groups divide."""
        return max(self.beam, -(-outputs // self.groups) * self.groups)


def refuse_speculation(options: DecodingOptions, draws: bool) -> None:
    """Refuse searches whose outputs a draft cannot find: those that are not greedy search or plain sampling."""
    if draws:
        if options.sampling.typical < 1:
            raise Fault("A draft cannot be used with sampling.typical; omit one of them.")
        return
    if options.beam > 1:
        raise Fault(f"A draft is for greedy search, but the beam is {options.beam}; set beam to 1 or omit the draft.")
    for name in ("coverage_penalty", "ctc"):
        if getattr(options, name):
            raise Fault(f"A draft cannot be used with {name}; set it to 0 or omit the draft.")
    if options.form != "text":
        raise Fault(f"A draft cannot be used with form = {options.form!r}; omit one of them.")
    if options.stop == "exhaustive":
        raise Fault("A draft is for greedy search, which stops at its first end; set stop to settled.")


def change_options(
    options: DecodingOptions, changes: Mapping[str, Any], sample: Mapping[str, Any] | None
) -> DecodingOptions:
    """Return the options with some changed; None changes nothing.

    With `sample`, a table of sampling options, outputs are sampled, and `n_best` says how many.
    """
    changes = {name: value for name, value in changes.items() if value is not None}
    own_sampling = changes.pop("sampling", {})
    if not all(isinstance(table, Mapping) for table in (own_sampling, sample or {})):
        raise Fault("Sampling takes a table of options, such as sampling.top_k=10 or {'top_k': 10}.")
    sampling = options.sampling.model_dump() | dict(own_sampling) | dict(sample or {})
    if sample is not None and "n_best" in changes:
        sampling["samples"] = changes.pop("n_best")
    # Asking for more outputs than the beam size widens the beam.
    if isinstance(changes.get("n_best"), int) and "beam" not in changes:
        changes["beam"] = options.beam_for(changes["n_best"])
    return check(DecodingOptions, options.model_dump() | changes | {"sampling": sampling}, "the search")
