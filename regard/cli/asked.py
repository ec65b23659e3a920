"""What `regard translate` was asked for, made into something that translates lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.faults import Fault, TooLong

if TYPE_CHECKING:
    from regard.model import Model
    from regard.searching import Wishes
    from regard.translated import Cutting, Translated

SAMPLES = 32  # what minimum Bayes risk chooses among


@dataclass(frozen=True)
class LineWishes:
    """What is asked of the outputs of some lines: prefixes and required phrases, a list for each line, or none."""

    prefixes: list[str]
    required: list[list[str]]
    forced: list[str]  # the outputs themselves, if they are only to be scored


@dataclass(frozen=True)
class Translator:
    """Lines in, translations out; `count` candidates are written for each line, or its score alone."""

    count: int
    gives_scores: bool
    cutting: "Cutting"
    translate: Callable[[list[str], list[int], LineWishes], "list[Translated]"]

    def __call__(self, lines: list[str], first: int, wishes: LineWishes) -> "Iterator[Translated]":
        """The translations of some lines, of which the first has the number `first`."""
        from regard.translated import joined, line_key

        cut = [self.cutting(line) for line in lines]
        numbers = [number for number, parts in enumerate(cut) for _ in parts]
        keys = [line_key(first + number, part) for number, parts in enumerate(cut) for part in range(len(parts))]
        try:
            found = iter(self.translate([part.text for parts in cut for part in parts], keys, wishes))
        except TooLong as fault:
            raise Fault(f"Line {first + numbers[fault.number] + 1}: {fault.sentence}") from None
        for parts in cut:
            yield joined(parts, list(islice(found, len(parts))))


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
    channel_weight: float
    split_sentences: bool
    split_long: bool
    forced: bool

    def check(self, wishes: "WishesByLine") -> None:
        """Refuse what cannot go together, before anything is loaded."""
        if self.forced and (wishes.given or not self._unasked):
            raise Fault("--force scores the outputs it is given and searches for none; leave the other options away.")
        drawn = [f"--{name.replace('_', '-')}" for name, value in self.sampling.items() if value is not None]
        if drawn and not (self.draws or self.risk):
            raise Fault(f"{' and '.join(drawn)} would do nothing without --sample.")
        if self.samples is not None and not self.risk:
            raise Fault("--samples says how many --mbr chooses among; to get several samples give --n-best.")
        if self.channel and (self.draws or self.risk):
            raise Fault("--channel reranks what the beam has found; leave --sample and --mbr away.")
        if (self.draws or self.risk) and self.beam is not None:
            raise Fault("--beam searches and --sample and --mbr draw; give one or the other.")
        if wishes.given and (self.split_sentences or self.split_long):
            raise Fault("--prefixes and --required belong to whole lines; leave --split-sentences and --too-long away.")

    @property
    def _unasked(self) -> bool:
        """Whether nothing was said about a search."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "channel_weight"}
        sampling = plain.pop("sampling").values()
        return not any(plain[name] for name in plain if name != "forced") and all(value is None for value in sampling)

    def translator(self, folder: Path) -> Translator:
        """Load what is needed and put it together."""
        from regard.model import load
        from regard.translated import Cutting

        model = load(folder)
        if self.ensemble:
            model = model.together([load(other) for other in self.ensemble])
        task, data = model.task, model.recipe.data
        cutting = Cutting(
            data.source_language,
            lambda text: len(task.source.encode(text)) + 1,
            task.model.options.longest,
            self.split_sentences,
            self.split_long,
        )
        count = self.n_best or (1 if self.draws or self.risk else model.recipe.decoding.n_best)
        if self.forced:
            return Translator(1, True, cutting, lambda texts, _, asked: model.translate_as(texts, asked.forced))
        return Translator(count, False, cutting, self._translate(model, count))

    def _translate(
        self, model: "Model", count: int
    ) -> Callable[[list[str], list[int], LineWishes], "list[Translated]"]:
        from regard.model import load
        from regard.recipe import apply_settings
        from regard.reranking import by_channel, by_risk

        given = apply_settings({}, self.settings)
        candidates, rank = count, None
        if self.risk:
            candidates, rank = self.samples or SAMPLES, by_risk(model, self.risk, count)
        elif self.channel:
            candidates = self.beam or given.get("beam", model.recipe.decoding.beam)
            rank = by_channel(model, load(self.channel), self.channel_weight, count)
        sample: dict[str, Any] | None = None
        if self.draws or self.risk:
            sample = {name: value for name, value in self.sampling.items() if value is not None}
        search = model.search(self.beam, self.length_penalty, candidates, sample=sample, given=given)
        wishes = self._wishes()

        def translate(texts: list[str], keys: list[int], own: LineWishes) -> "list[Translated]":
            asked = replace(wishes, prefixes=own.prefixes, required=own.required)
            return model.translate_by(texts, replace(search, wishes=asked), keys, rank)

        return translate

    def _wishes(self) -> "Wishes":
        """What is asked of all outputs alike."""
        from regard.data.text import read_lines
        from regard.searching import Wishes

        allowed = None if self.vocabulary is None else list(read_lines(self.vocabulary))
        return Wishes(forbidden=self.forbidden, allowed=allowed)


class WishesByLine:
    """The files that ask something of each line, read along with the input."""

    def __init__(self, prefixes: Path | None, required: Path | None, forced: Path | None) -> None:
        self.prefixes, self.required, self.forced = _Lines(prefixes), _Lines(required), _Lines(forced)

    @property
    def given(self) -> bool:
        return any(file.path is not None for file in (self.prefixes, self.required))

    def take(self, count: int) -> LineWishes:
        """For the next `count` lines."""
        phrases = [[each for each in line.split("\t") if each] for line in self.required.take(count)]
        return LineWishes(self.prefixes.take(count), phrases, self.forced.take(count))

    def end(self) -> None:
        """Refuse files that go on when the input is over."""
        for file in (self.prefixes, self.required, self.forced):
            file.end()


class _Lines:
    def __init__(self, path: Path | None) -> None:
        from regard.data.text import read_lines

        self.path, self.seen = path, 0
        self.lines = iter(read_lines(path)) if path is not None else None

    def take(self, count: int) -> list[str]:
        if self.lines is None:
            return []
        found = list(islice(self.lines, count))
        self.seen += len(found)
        if len(found) < count:
            raise Fault(f"{self.path} has {self.seen} lines, but the input has more; give a line for each.")
        return found

    def end(self) -> None:
        if self.lines is not None and next(self.lines, None) is not None:
            raise Fault(f"{self.path} has more lines than the input, which has {self.seen}; give a line for each.")
