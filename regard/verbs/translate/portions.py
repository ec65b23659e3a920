"""Portions of lines, what the files of prefixes and phrases ask of them, and the translations of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.base.faults import Fault, TextFault, TooLong
from regard.console import remark

if TYPE_CHECKING:
    from regard.decoding.spare_time import InPieces
    from regard.engines.translated import Translated
    from regard.verbs.translate.folder_translator import FolderTranslator
    from regard.verbs.translate.plan import Job
    from regard.verbs.translate.request import TranslateRequest
    from regard.verbs.translate.stages import Cut, Found, TranslationStages


@dataclass(frozen=True)
class LineConstraints:
    """What is asked of the outputs of some lines: prefixes and required phrases, a list for each line, or none."""

    prefixes: list[str]
    required: list[list[str]]
    forced: list[str]  # the outputs themselves, if they are only to be scored

    def fields(self) -> dict[str, list[Any]]:
        """The fields of a request for these lines."""
        fields: dict[str, list[Any]] = {"prefix": self.prefixes, "required": self.required, "forced": self.forced}
        return {name: values for name, values in fields.items() if values}


@dataclass(frozen=True)
class LongLines:
    """How many lines are longer than any that the model learnt from, the number of the first, and how long that was."""

    longest: int = 0  # tokens of the longest text that the model learnt from, its end counted
    count: int = 0
    first: int = 0

    def with_more(self, numbers: list[int]) -> "LongLines":
        """With the lines of these numbers too."""
        return self.with_others(LongLines(self.longest, len(numbers), min(numbers, default=0)))

    def with_others(self, others: "LongLines") -> "LongLines":
        """With those that another has met."""
        if not self.count or not others.count:
            return self if self.count else others
        return LongLines(self.longest, self.count + others.count, min(self.first, others.first))

    def remark(self) -> None:
        """Say so, where there are any."""
        if self.count:
            few = "1 line is" if self.count == 1 else f"{self.count:,} lines are"
            remark(
                f"{few} longer than any that the model learnt from ({self.longest:,} tokens), as line "
                f"{self.first + 1:,}; much may be missing: translate with --split-sentences, or with --too-long split."
            )


class LineTranslator:
    """Lines in, translations out, by all that is asked of them alike."""

    def __init__(self, translator: "FolderTranslator", request: "TranslateRequest") -> None:
        self.request = request
        self._plan = translator.plan(request)
        self._run = translator.runner(self._plan)
        self._cutting = translator.cutting(request)
        self._stages = translator.stages(self._plan)
        self.long_lines = LongLines(self._cutting.longest)

    @property
    def count(self) -> int:
        """Candidates for each line."""
        return self._plan.count

    def __call__(self, portions: "Iterable[Portion]", ahead: bool) -> "Iterator[tuple[Portion, list[Translated]]]":
        """The translations of portions, in their order; whoever can wait for them lets it read `ahead`.

        Where the device does most of the work, the text of one portion is cut and joined while it searches for another.
        """
        if ahead and self._stages is not None:
            from regard.decoding.spare_time import overlapped

            return overlapped(_PortionStages(self, self._stages), portions)
        return ((portion, self.translate(portion)) for portion in portions)

    def translate(self, portion: "Portion") -> "list[Translated]":
        """The translations of some lines."""
        with self.faults_of(portion):
            job = self.job(portion)
            with job.faults():
                return job.join(self._run(job.pieces))

    def job(self, portion: "Portion") -> "Job":
        """The sentences of some lines; those that are long are taken note of."""
        from regard.verbs.translate.plan import job_for

        request = self.request.model_copy(update={"text": portion.lines, **portion.constraints.fields()})
        job = job_for(request, self._plan, self._cutting, portion.first)
        if self.request.forced is None:
            is_long = [any(self._cutting.is_long(part.text) for part in parts) for parts in job.cut]
            self.long_lines = self.long_lines.with_more(
                [portion.first + number for number, long in enumerate(is_long) if long]
            )
        return job

    @contextmanager
    def faults_of(self, portion: "Portion") -> Iterator[None]:
        """Tell what is wrong with a line by its number."""
        try:
            yield
        except TextFault as fault:
            raise Fault(f"Line {portion.first + fault.number + 1}: {self._mendable(fault)}") from None

    def _mendable(self, fault: TextFault) -> str:
        """What is wrong with a line, and the option that mends it, where there is one."""
        if not isinstance(fault, TooLong) or self.request.long_texts != "refuse" or self.request.is_of_whole_outputs:
            return fault.sentence
        return f"{fault.sentence.removesuffix('.')}, or give --too-long split."


class Portion(NamedTuple):
    """Some lines that follow each other, the number of the first, and what is asked of them."""

    lines: list[str]
    first: int
    constraints: LineConstraints

    @property
    def end(self) -> int:
        """The number of the line behind its last."""
        return self.first + len(self.lines)


class _Read(NamedTuple):
    portion: Portion
    job: "Job"
    texts: list[str]
    cut: "Cut"


@dataclass(frozen=True)
class _PortionStages:
    """The stages of translating portions of lines."""

    translator: LineTranslator
    stages: "TranslationStages"

    def read(self, portion: Portion) -> "InPieces[_Read]":
        job = self.translator.job(portion)
        texts = [piece.text for piece in job.pieces]
        yield None
        with self.translator.faults_of(portion), job.faults():
            return _Read(portion, job, texts, (yield from self.stages.cut(texts)))

    def search(self, read: _Read) -> "Found":
        return self.stages.find(read.cut)

    def write(self, read: _Read, found: "Found") -> "InPieces[tuple[Portion, list[Translated]]]":
        with self.translator.faults_of(read.portion), read.job.faults():
            worded = yield from self.stages.word(read.texts, found)
        yield None
        return read.portion, read.job.join(worded)


class ConstraintsByLine:
    """The files that ask something of each line, read along with the input."""

    def __init__(self, prefixes: Path | None, required: Path | None, forced: Path | None) -> None:
        self.prefixes, self.required, self.forced = _Lines(prefixes), _Lines(required), _Lines(forced)

    def skip(self, count: int) -> None:
        """Leave out what the files ask of so many lines."""
        for file in (self.prefixes, self.required, self.forced):
            file.skip(count)

    def take(self, count: int) -> LineConstraints:
        """For the next `count` lines."""
        phrases = [[each for each in line.split("\t") if each] for line in self.required.take(count)]
        return LineConstraints(self.prefixes.take(count), phrases, self.forced.take(count))

    def end(self) -> None:
        """Refuse files that go on when the input is over."""
        for file in (self.prefixes, self.required, self.forced):
            file.end()


class _Lines:
    def __init__(self, path: Path | None) -> None:
        from regard.data.corpora.text import read_lines

        self.path, self.seen = path, 0
        self.lines = iter(read_lines(path)) if path is not None else None

    def take(self, count: int) -> list[str]:
        if self.lines is None:
            return []
        found = list(islice(self.lines, count))
        self._see(len(found), count)
        return found

    def skip(self, count: int) -> None:
        if self.lines is not None:
            self._see(sum(1 for _ in islice(self.lines, count)), count)

    def _see(self, found: int, expected: int) -> None:
        self.seen += found
        if found < expected:
            raise Fault(f"{self.path} has {self.seen} lines, but the input has more; give a line for each.")

    def end(self) -> None:
        if self.lines is not None and next(self.lines, None) is not None:
            raise Fault(f"{self.path} has more lines than the input, which has {self.seen}; give a line for each.")
