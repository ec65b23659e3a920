"""What `regard translate` was asked for, made into something that translates lines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.faults import Fault
from regard.cli.fast import fast_translator
from regard.cli.lines import ConstraintsByLine, LineConstraints, Translator

if TYPE_CHECKING:
    from regard.engines.fast import Choice
    from regard.model import Model
    from regard.verbs.translate.outputs import Translated
    from regard.verbs.translate.search import Constraints

SAMPLES = 32  # what minimum Bayes risk chooses among


@dataclass(frozen=True)
class Asked:
    """The options of the command, as they were given."""

    beam: int | None
    length_penalty: float | None
    n_best: int | None
    settings: Sequence[str]
    draws: bool
    sampling: dict[str, float | int | None]
    risk: str | None
    samples: int | None
    forbidden: Sequence[str]
    vocabulary: Path | None
    ensemble: Sequence[Path]
    channel: Path | None
    channel_weight: float | None
    split_sentences: bool
    split_long: bool
    forced: bool
    engine: "Choice"
    precision: str
    explained: bool  # whether tokens, their scores and the alignment are wanted too

    def check(self, constraints: ConstraintsByLine) -> None:
        """Refuse what cannot go together, before anything is loaded."""
        if self.forced and (constraints.given or not self._unasked):
            raise Fault("--force scores the outputs it is given and searches for none; leave the other options away.")
        drawn = [f"--{name.replace('_', '-')}" for name, value in self.sampling.items() if value is not None]
        if drawn and not self._samples_drawn:
            raise Fault(f"{' and '.join(drawn)} would do nothing without --sample.")
        if self.channel_weight is not None and not self.channel:
            raise Fault("--channel-weight would do nothing without --channel.")
        if self.samples is not None and self.risk is None:
            raise Fault("--samples says how many --mbr chooses among; to get several samples give --n-best.")
        if self.channel and self._samples_drawn:
            raise Fault("--channel reranks what the beam has found; leave --sample and --mbr away.")
        if self._samples_drawn and (self.beam is not None or self.length_penalty is not None):
            raise Fault("--beam and --length-penalty search, --sample and --mbr draw; give one or the other.")
        if self.risk is not None and (self.n_best or 1) > (self.samples or SAMPLES):
            raise Fault(f"--mbr cannot give the {self.n_best} best of {self.samples or SAMPLES}; raise --samples.")
        if constraints.given and (self.split_sentences or self.split_long):
            raise Fault("--prefixes and --required belong to whole lines; leave --split-sentences and --too-long away.")

    @property
    def _unasked(self) -> bool:
        """Whether nothing was said about a search."""
        others = {"sampling", "forced", "engine", "precision", "explained"}
        said = [getattr(self, field.name) for field in fields(self) if field.name not in others]
        return all(value is None or value is False or value == [] for value in (*said, *self.sampling.values()))

    @property
    def _samples_drawn(self) -> bool:
        return self.draws or self.risk is not None

    @property
    def given(self) -> dict[str, Any]:
        """The options of the search that were given, by their names."""
        from regard.base.recipe import apply_settings

        named = {"beam": self.beam, "length_penalty": self.length_penalty, "n_best": self.n_best}
        table = apply_settings({}, self.settings)
        if "sampling" in table and not self._samples_drawn:
            raise Fault("Options of sampling would do nothing without --sample.")
        if not isinstance(table.get("sampling", {}), dict):
            raise Fault("Sampling takes a table of options; give one of them, as --set sampling.min_p=0.05.")
        return table | {name: value for name, value in named.items() if value is not None}

    def translator(self, folder: Path, constraints: ConstraintsByLine) -> Translator:
        """Load what is needed and put it together: an export where it can do all that is asked, else torch."""
        beyond = self._beyond_exports(constraints)
        if self.engine not in ("auto", "torch") and beyond:
            from regard.engines.fast import CALLED

            raise Fault(f"{CALLED[self.engine]} cannot do {beyond}; leave it away, or translate with --engine torch.")
        if self.engine != "torch" and not beyond:
            cutting = {"sentences": self.split_sentences, "long_ones": self.split_long}
            fast = fast_translator(folder, self.given, cutting, self.explained, self.engine)
            if fast is not None:
                return fast
        return self._by_torch(folder)

    def lines_for_each(self, folder: Path) -> int:
        """How many lines of output a line of the input gives, found without loading the model."""
        from regard.base.recipe import check
        from regard.decoding.options import DecodingOptions
        from regard.runs.folder import read_recipe

        if self.forced or self.explained:
            return 1
        return self._count(check(DecodingOptions, read_recipe(folder)["decoding"]).n_best)

    def _beyond_exports(self, constraints: ConstraintsByLine) -> str | None:
        """The first thing asked for that only torch does."""
        asked = {
            "--sample": self.draws,
            "--mbr": self.risk is not None,
            "--prefixes or --required": constraints.given,
            "--forbid": self.forbidden,
            "--vocabulary": self.vocabulary,
            "--with": self.ensemble,
            "--channel": self.channel,
            "--force": self.forced,
            "--precision bf16": self.precision == "bf16",
        }
        return next((name for name, is_so in asked.items() if is_so), None)

    def _by_torch(self, folder: Path) -> Translator:
        from regard.model import load
        from regard.verbs.translate.outputs import Cutting

        model = load(folder, precision=self.precision)
        if self.ensemble:
            others = {place: load(place, precision=self.precision) for place in self.ensemble}
            for place, other in others.items():
                if not model.has_tokens_of(other):
                    raise Fault(f"{place} cuts text into other tokens than {folder}; combine models of one corpus.")
            model = model.together([others[place] for place in self.ensemble])
        task, data = model.task, model.recipe.data
        cutting = Cutting(
            data.source_language,
            lambda text: len(task.source.encode(text)) + 1,
            min(task.model.options.longest, data.cleaning.longest + 1),
            self.split_sentences,
            self.split_long,
        )
        if self.forced:
            return Translator(1, True, cutting, lambda texts, _, asked: model.translate_as(texts, asked.forced))
        count = self._count(model.recipe.decoding.n_best)
        return Translator(count, False, cutting, self._translate(model, count))

    def _count(self, usual: int) -> int:
        """Candidates that are written for each line, where the model's recipe asks for so many as are `usual`."""
        if not self._samples_drawn:
            return self.given.get("n_best", usual)
        return self.n_best or (1 if self.risk is not None else self.given.get("sampling", {}).get("samples", 1))

    def _translate(
        self, model: "Model", count: int
    ) -> Callable[[list[str], list[int], LineConstraints], "list[Translated]"]:
        from regard.model import load
        from regard.verbs.translate.reranking import by_channel, by_risk

        given, candidates, rank = self.given, count, None
        if self.risk is not None:
            candidates, rank = self.samples or SAMPLES, by_risk(model, self.risk, count)
        elif self.channel:
            candidates = model.search(given=given | {"n_best": 1}).options.beam
            if count > candidates:
                raise Fault(f"A beam of {candidates} cannot give the {count} best; widen it.")
            weight = 1.0 if self.channel_weight is None else self.channel_weight
            rank = by_channel(model, load(self.channel, precision=self.precision), weight, count)
        sample: dict[str, Any] | None = None
        if self._samples_drawn:
            sample = {name: value for name, value in self.sampling.items() if value is not None}
        search = model.search(n_best=candidates, sample=sample, given=given)
        constraints = self._constraints()

        def translate(texts: list[str], keys: list[int], own: LineConstraints) -> "list[Translated]":
            asked = replace(constraints, prefixes=own.prefixes, required=own.required)
            return model.translate_by(texts, replace(search, constraints=asked), keys, rank)

        return translate

    def _constraints(self) -> "Constraints":
        """What is asked of all outputs alike."""
        from regard.data.corpora.text import read_lines
        from regard.verbs.translate.search import Constraints

        allowed = None if self.vocabulary is None else list(read_lines(self.vocabulary))
        return Constraints(forbidden=self.forbidden, allowed=allowed)
