"""Lines through a translator into an output, portion by portion: what every way to translate a file has in common."""

import gc
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.base.progress import Progress
from regard.console import remark
from regard.console.lines import TextInput
from regard.verbs.translate.portions import ConstraintsByLine, LineTranslator, Portion
from regard.verbs.translate.unfinished import PORTION, GrowingFile, Stream

if TYPE_CHECKING:
    from regard.data.lines import LineRange
    from regard.engines.translated import Translated
    from regard.loading import Loaded
    from regard.verbs.translate.request import TranslateRequest


@dataclass(frozen=True)
class LineJob:
    """Lines, what is asked of their outputs, and the model that writes these: all that a process must be told of."""

    model: Path
    request: "TranslateRequest"
    precision: Literal["float32", "bf16"]
    given: TextInput
    prefixes: Path | None = None  # this and the next two are files with a line for each line that is given
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
        """The same for a part of the lines."""
        return replace(self, given=replace(self.given, part=part))


def open_translator(folder: Path, request: "TranslateRequest", precision: Literal["float32", "bf16"]) -> LineTranslator:
    """All that translating lines as asked for needs, loaded; exports load no torch."""
    from regard.engines.exported import is_export
    from regard.engines.fast import CALLED
    from regard.verbs.translate.folder_translator import FolderTranslator

    limit_primitives()

    @cache
    def find(name: str) -> FolderTranslator:
        return FolderTranslator(Path(name), "torch", precision)

    own = FolderTranslator(folder, request.engine, precision, find=find, find_language_model=_load)
    if request.fuse is not None and request.engine == "auto" and any(is_export(folder / tool) for tool in CALLED):
        remark(f"The export in {folder} cannot fuse with a language model, so torch translates.")
    return LineTranslator(own, request)


def limit_primitives() -> None:
    """Let oneDNN, by which torch multiplies on ARM and in half precision, keep fewer compiled operations, unless told.

    It keeps one, of 20 KiB, for each shape, and a search has fewer rows with every sentence that ends; by default it
    keeps 1,024, so that a stream would take more memory with each portion for a long time. Of those beyond the latest
    256 hardly any comes again. It reads this variable when it is first needed.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")


def _load(name: str) -> "Loaded":
    from regard.verbs.opening import model_in

    return model_in(name)


def translate_lines(
    translator: LineTranslator,
    given: TextInput,
    constraints: ConstraintsByLine,
    output: Stream | GrowingFile,
    progress: Progress,
    total: int | None = None,
    begin: Callable[[int], None] = lambda lines: None,
) -> None:
    """Let all lines through, portion by portion; those whose translations the output has already are only read.

    `begin` hears of each portion that is translated, before it is, by the number of its lines.
    """
    kept_end = given.first + output.kept_lines

    def portions() -> Iterator[Portion]:
        for portion in read_portions(given, constraints):
            if portion.end <= kept_end:
                output.take_note(portion.lines, portion.constraints)
            else:
                begin(len(portion.lines))
                yield portion

    with _uncollected():
        # Who sends line by line may wait for the answer to one before the next.
        for portion, translations in translator(portions(), ahead=given.file is not None):
            output.take_note(portion.lines, portion.constraints)
            for translated in translations:
                for line in _output_lines(translated, translator):
                    output.write(line)
            output.keep()
            progress("translating", portion.end - given.first, total)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Spare the garbage collector what is there already: the model and its libraries, which stay."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def read_portions(given: TextInput, constraints: ConstraintsByLine) -> Iterator[Portion]:
    """The lines as they are translated together, however a file is cut into parts."""
    lines, first = given.lines(), given.first
    constraints.skip(first)
    while portion := list(islice(lines, 1 if given.is_typed else PORTION)):
        yield Portion(portion, first, constraints.take(len(portion)))
        first += len(portion)


def _output_lines(translated: "Translated", translator: LineTranslator) -> Iterator[str]:
    """The lines for one input line: an object, the score of a given output, or as many candidates as were asked for."""
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
