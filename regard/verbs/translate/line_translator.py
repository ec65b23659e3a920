"""Translate the lines of a file or stream into an output, portion by portion."""

import gc
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from regard.base.faults import Fault, TextFault, TooLong
from regard.base.progress import Progress
from regard.console import remark
from regard.console.lines import TextInput
from regard.verbs.translate.unfinished import PORTION, Asked, GrowingFile

if TYPE_CHECKING:
    from regard.data.lines import LineRange
    from regard.decoding.spare_time import InPieces
    from regard.engines.translated import Translated
    from regard.loading import Loaded
    from regard.verbs.translate.folder_translator import FolderTranslator
    from regard.verbs.translate.plan import Job
    from regard.verbs.translate.request import TranslateRequest
    from regard.verbs.translate.stages import Cut, Found, TranslationStages


class Portion(NamedTuple):
    """Consecutive lines, the number of the first, and the constraints on their outputs."""

    lines: list[str]
    first: int
    asked: Asked

    @property
    def end(self) -> int:
        """The number after that of its last line."""
        return self.first + len(self.lines)

    def request(self, request: "TranslateRequest") -> "TranslateRequest":
        """Return a copy of the request for these lines."""
        fields = {"prefix": self.asked["prefixes"], "required": self.asked["required"], "forced": self.asked["forced"]}
        return request.model_copy(
            update={"text": self.lines} | {name: values for name, values in fields.items() if values}
        )


class ConstraintsByLine:
    """The files with constraints on each line, read in step with the input."""

    def __init__(self, prefixes: Path | None, required: Path | None, forced: Path | None) -> None:
        self.prefixes, self.required, self.forced = _Lines(prefixes), _Lines(required), _Lines(forced)

    def skip(self, count: int) -> None:
        """Skip the constraints on this many lines."""
        for file in (self.prefixes, self.required, self.forced):
            file.skip(count)

    def take(self, count: int) -> Asked:
        """Return the constraints on the next `count` lines."""
        phrases = [[phrase for phrase in line.split("\t") if phrase] for line in self.required.take(count)]
        return {"prefixes": self.prefixes.take(count), "required": phrases, "forced": self.forced.take(count)}

    def end(self) -> None:
        """Refuse files that have more lines than the input."""
        for file in (self.prefixes, self.required, self.forced):
            file.end()


class _Lines:
    def __init__(self, path: Path | None) -> None:
        from regard.data.lines import read_lines

        self.path, self.seen = path, 0
        self.lines = iter(read_lines(path)) if path is not None else None

    def take(self, count: int) -> list[str]:
        if self.lines is None:
            return []
        lines = list(islice(self.lines, count))
        self._see(len(lines), count)
        return lines

    def skip(self, count: int) -> None:
        if self.lines is not None:
            self._see(sum(1 for _ in islice(self.lines, count)), count)

    def _see(self, count: int, expected: int) -> None:
        self.seen += count
        if count < expected:
            raise Fault(f"{self.path} has {self.seen} lines, but the input has more; give a line for each.")

    def end(self) -> None:
        if self.lines is not None and next(self.lines, None) is not None:
            raise Fault(f"{self.path} has more lines than the input, which has {self.seen}; give a line for each.")


def read_portions(source: TextInput, constraints: ConstraintsByLine) -> Iterator[Portion]:
    """Yield the lines in the portions that are translated together, however a file is divided."""
    lines, first = source.lines(), source.first
    constraints.skip(first)
    while portion := list(islice(lines, 1 if source.is_typed else PORTION)):
        yield Portion(portion, first, constraints.take(len(portion)))
        first += len(portion)


@dataclass(frozen=True)
class LongLines:
    """Count of lines longer than any in the training data, the number of the first, and that length."""

    longest: int = 0  # tokens of the longest training text, including its end
    count: int = 0
    first: int = 0

    def with_more(self, numbers: list[int]) -> "LongLines":
        """Return a copy that also counts the lines of these numbers."""
        return self.with_others(LongLines(self.longest, len(numbers), min(numbers, default=0)))

    def with_others(self, others: "LongLines") -> "LongLines":
        """Return the sum of these and others."""
        if not self.count or not others.count:
            return self if self.count else others
        return LongLines(self.longest, self.count + others.count, min(self.first, others.first))

    def remark(self) -> None:
        """Print a remark if there are any."""
        if self.count:
            few = "1 line is" if self.count == 1 else f"{self.count:,} lines are"
            remark(
                f"{few} longer than any in the training data ({self.longest:,} tokens), such as line "
                f"{self.first + 1:,}; much may be missing: translate with --split-sentences or --too-long split."
            )


class LineTranslator:
    """Translates lines by one request."""

    def __init__(self, translator: "FolderTranslator", request: "TranslateRequest") -> None:
        self.request = request
        self._plan = translator.plan(request)
        self._run = translator.runner(self._plan)
        self._cutting = translator.cutting(request)
        self._stages = translator.stages(self._plan)
        self.long_lines = LongLines(self._cutting.longest)

    @property
    def count(self) -> int:
        """Number of candidates for each line."""
        return self._plan.count

    def __call__(self, portions: "Iterable[Portion]", ahead: bool) -> "Iterator[tuple[Portion, list[Translated]]]":
        """Yield the translations of portions in order; `ahead` lets it read further portions before it yields.

        If the device does most of the work, one portion is tokenised and joined while another is searched.
        """
        if ahead and self._stages is not None:
            from regard.decoding.spare_time import overlapped

            return overlapped(_PortionStages(self, self._stages), portions)
        return ((portion, self.translate(portion)) for portion in portions)

    def translate(self, portion: "Portion") -> "list[Translated]":
        """Return the translations of a portion."""
        with self.faults_of(portion):
            job = self.job(portion)
            with job.faults():
                return job.join(self._run(job.pieces))

    def job(self, portion: "Portion") -> "Job":
        """Return the sentences of a portion, and note the long lines."""
        from regard.verbs.translate.plan import job_for

        job = job_for(portion.request(self.request), self._plan, self._cutting, portion.first)
        if self.request.forced is None:
            is_long = [any(self._cutting.is_long(part.text) for part in parts) for parts in job.cut]
            self.long_lines = self.long_lines.with_more(
                [portion.first + number for number, long in enumerate(is_long) if long]
            )
        return job

    @contextmanager
    def faults_of(self, portion: "Portion") -> Iterator[None]:
        """Report errors with the number of the line."""
        try:
            yield
        except TextFault as fault:
            raise Fault(f"Line {portion.first + fault.number + 1}: {self._mendable(fault)}") from None

    def _mendable(self, fault: TextFault) -> str:
        """Return what is wrong with a line, and the option that fixes it, if there is one."""
        if not isinstance(fault, TooLong) or self.request.long_texts != "refuse" or self.request.is_of_whole_outputs:
            return fault.sentence
        return f"{fault.sentence.removesuffix('.')}, or give --too-long split."


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

    def search(self, portion: _Read) -> "Found":
        return self.stages.find(portion.cut)

    def write(self, read: _Read, found: "Found") -> "InPieces[tuple[Portion, list[Translated]]]":
        with self.translator.faults_of(read.portion), read.job.faults():
            worded = yield from self.stages.word(read.texts, found)
        yield None
        return read.portion, read.job.join(worded)


@dataclass(frozen=True)
class LineJob:
    """Lines, the request, the constraint files and the model: everything that a process needs to know."""

    model: Path
    request: "TranslateRequest"
    precision: Literal["float32", "bf16"]
    given: TextInput
    prefixes: Path | None = None  # this and the next two are files with a line for each input line
    required: Path | None = None
    forced: Path | None = None

    @property
    def constraint_files(self) -> list[Path]:
        return [file for file in (self.prefixes, self.required, self.forced) if file is not None]

    def open_translator(self) -> LineTranslator:
        return open_translator(self.model, self.request, self.precision)

    def constraints(self) -> ConstraintsByLine:
        return ConstraintsByLine(self.prefixes, self.required, self.forced)

    def limited_to(self, part: "LineRange") -> "LineJob":
        """Return a copy for a part of the lines."""
        return replace(self, given=replace(self.given, part=part))


def open_translator(folder: Path, request: "TranslateRequest", precision: Literal["float32", "bf16"]) -> LineTranslator:
    """Load everything needed to translate lines by a request; exports do not load torch."""
    from regard.engines.exported import is_export
    from regard.engines.fast import CALLED
    from regard.verbs.translate.folder_translator import FolderTranslator

    limit_primitives()

    @cache
    def find(name: str) -> FolderTranslator:
        return FolderTranslator(Path(name), "torch", precision)

    translator = FolderTranslator(folder, request.engine, precision, find=find, find_language_model=_load)
    if request.fuse is not None and request.engine == "auto" and any(is_export(folder / tool) for tool in CALLED):
        remark(f"The export in {folder} cannot fuse with a language model, so torch translates.")
    return LineTranslator(translator, request)


def limit_primitives() -> None:
    """Limit the compiled operations that oneDNN keeps, unless the user sets the limit.

    Torch multiplies with oneDNN on ARM and in half precision. It keeps an operation of 20 KiB for each shape, and a
    search has fewer rows with every sentence that ends. With the default of 1,024, memory would grow with each portion
    of a stream for a long time; those beyond the latest 256 are hardly ever used again. oneDNN reads this variable when
    it is first used.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")


def _load(name: str) -> "Loaded":
    from regard.verbs.opening import model_in

    return model_in(name)


class Stream:
    """Standard output, a device or a pipe: what is written cannot be resumed."""

    kept_lines = 0

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def take_note(self, lines: list[str], asked: Asked) -> None:
        pass

    def write(self, line: str) -> None:
        print(line, file=self.stream)

    def keep(self) -> None:
        self.stream.flush()


def translate_lines(
    translator: LineTranslator,
    source: TextInput,
    constraints: ConstraintsByLine,
    output: Stream | GrowingFile,
    progress: Progress,
    total: int | None = None,
    begin: Callable[[int], None] = lambda lines: None,
) -> None:
    """Translate all lines, portion by portion; lines whose translations the output already has are only read.

    `begin` is called before each portion is translated, with its number of lines.
    """
    kept_end = source.first + output.kept_lines

    def portions() -> Iterator[Portion]:
        for portion in read_portions(source, constraints):
            if portion.end <= kept_end:
                output.take_note(portion.lines, portion.asked)
            else:
                begin(len(portion.lines))
                yield portion

    with _uncollected():
        # A client that sends line by line may wait for each answer before sending the next line.
        for portion, translations in translator(portions(), ahead=source.file is not None):
            output.take_note(portion.lines, portion.asked)
            for translated in translations:
                for line in _output_lines(translated, translator):
                    output.write(line)
            output.keep()
            progress("translating", portion.end - source.first, total)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Exclude existing objects, the model and its libraries, from garbage collection inside the block."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _output_lines(translated: "Translated", translator: LineTranslator) -> Iterator[str]:
    """Yield the output lines for one input line: a JSON object, the score of a forced output, or the candidates."""
    if translator.request.explain:
        yield json.dumps(_as_object(translated), ensure_ascii=False, allow_nan=False)
    elif translator.request.forced is not None:
        yield f"{translated.score:.6f}"
    else:
        texts, count = [text for text, _ in translated.n_best], translator.count
        yield from (" ".join(text.splitlines()) for text in (texts + [""] * count)[:count])


def _as_object(translated: "Translated") -> dict[str, Any]:
    return {
        "text": translated.text,
        "score": translated.score,
        "tokens": translated.tokens,
        "token_scores": translated.token_scores,
        "alignment": translated.alignment,
        "n_best": [{"text": text, "score": score} for text, score in translated.n_best],
        **({"language_scores": translated.language_scores} if translated.language_scores else {}),
        **({} if translated.unsure is None else {"unsure": translated.unsure}),
    }
