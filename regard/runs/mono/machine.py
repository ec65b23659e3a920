"""Let a translator write the other side of a text, in shards that survive a crash, and keep what is usable."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.model_folder import model_checksum, read_folder, read_recipe
from regard.base.progress import Progress
from regard.console.lines import TextInput
from regard.data.corpora.hashes import fold
from regard.data.corpora.languages import find_language
from regard.data.corpora.mono import Writing
from regard.data.lines import read_lines
from regard.data.prepared import make_folder
from regard.data.tokenisers.tokeniser import tokenisers_in
from regard.families import check_recipe
from regard.families.abilities import needs
from regard.runs.mono.lines import CleanLines, clean_lines
from regard.runs.mono.noise import add_noise
from regard.verbs.translate.bulk.finishing import BulkJob, finish_here, join
from regard.verbs.translate.bulk.shards import cut_into_shards, number_of_shards
from regard.verbs.translate.bulk.workers import finish_shards
from regard.verbs.translate.line_translator import LineJob
from regard.verbs.translate.request import TranslateRequest

NO_OUTPUT, COPIED, UNEVEN = "without an output", "copied", "too uneven in length"
_RATIO, _GRACE = 4, 20  # characters of the longer side for one of the shorter, and more on top
_LOOKED_AT = 2_000  # lines that decide the language


def language_of(text: Path) -> str | None:
    """Return the language of a text by its first lines, or None if they are too few or disagree."""
    return find_language(islice(read_lines(text), _LOOKED_AT))


@dataclass(frozen=True)
class MachineText:
    """A text to translate for training: the model, the text, and how the model writes."""

    model: Path
    text: Path
    writing: Writing
    workers: int = 1

    @cached_property
    def recipe(self) -> Any:
        """The recipe of the model, which must be a translator."""
        recipe = check_recipe(read_recipe(self.model))
        needs(recipe, "translate")
        return recipe

    @property
    def languages(self) -> tuple[str, str]:
        """The languages that the model reads and writes."""
        return self.recipe.data.source_language, self.recipe.data.target_language

    @cached_property
    def fingerprint(self) -> str:
        return model_checksum(self.model)

    def check(self) -> None:
        """Refuse a model that does not translate, a missing text, and a text in another language than it reads."""
        reads, writes = self.languages
        if not self.text.is_file():
            raise Fault(f"There is no file {self.text}.")
        found = language_of(self.text)
        if found == writes != reads:
            raise Fault(f"{self.text} is text in {writes}, which {self.model} writes; give it text in {reads} to read.")
        if found not in (None, reads) and len(reads) == 2:
            raise Fault(f"{self.text} is text in {found}, but {self.model} reads {reads}; give it text in {reads}.")

    def write(self, work: Path, progress: Progress) -> "Written":
        """Translate the text inside the folder `work`, where an earlier try may have left a part; return the pairs."""
        make_folder(work)
        lines = work / "lines.txt"
        cleaned = clean_lines(self.text, lines, self._lengths, self._most, progress)
        outputs, job = work / "outputs.txt", self._job(work, lines)
        shards = cut_into_shards(lines, number_of_shards(job.folder))
        make_folder(job.folder)
        if self.workers > 1:
            finish_shards(job, shards, self.workers, progress)
        else:
            finish_here(job, shards, progress)
        join(job, shards, outputs, progress)
        return Written(lines, outputs, cleaned, self.writing)

    @cached_property
    def _tokeniser(self) -> Any:
        return tokenisers_in(read_folder(self.model, self._tokeniser_files), self.recipe.data.tokeniser)[0]

    @property
    def _tokeniser_files(self) -> list[str]:
        from regard.base.model_folder import WEIGHTS, read_manifest

        return [name for name in read_manifest(self.model) if name != WEIGHTS]

    @property
    def _most(self) -> int:
        """Most tokens of a line, so that with its end it is no longer than what the model was trained on."""
        return int(min(self.recipe.model.longest - 1, self.recipe.data.cleaning.longest))

    def _lengths(self, texts: list[str]) -> list[int]:
        return [len(tokens) for tokens in self._tokeniser.encode_all(texts)]

    def _job(self, work: Path, lines: Path) -> BulkJob:
        writing = self.writing
        fields: dict[str, Any] = {"text": [], "split_sentences": False, "too_long": "split", "explain": False}
        if writing.sample:
            fields["sample"] = {"seed": writing.seed, "temperature": 1.0, "top_k": writing.top_k or 0}
        elif writing.beam is not None:
            fields["beam"] = writing.beam
        request = TranslateRequest.read(fields | {"n_best": 1})
        record = {"the model": self.fingerprint, **writing.model_dump(exclude={"noise"})}
        return BulkJob(
            LineJob(self.model, request, writing.precision, TextInput(file=lines)), record, work / "outputs.shards"
        )


@dataclass(frozen=True)
class Written:
    """Lines and what a model wrote for them, and the record of how the lines were cleaned."""

    lines: Path
    outputs: Path
    cleaned: CleanLines
    writing: Writing

    def pairs(self, dropped: dict[str, int]) -> Iterator[tuple[str, str]]:
        """Yield each line with its output, noisy if asked for; count what is dropped into `dropped`."""
        dropped |= dict.fromkeys((NO_OUTPUT, COPIED, UNEVEN), 0)
        sides = zip(read_lines(self.lines), read_lines(self.outputs), strict=True)
        for number, (line, raw) in enumerate(sides):
            output = " ".join(raw.split())
            shorter, longer = sorted((len(line), len(output)))
            if not output:
                dropped[NO_OUTPUT] += 1
            elif fold(line) == fold(output):
                dropped[COPIED] += 1
            elif longer > _RATIO * shorter + _GRACE:
                dropped[UNEVEN] += 1
            else:
                yield line, add_noise(output, self.writing.seed, number) if self.writing.noise else output

    def report(self, dropped: dict[str, int]) -> str:
        """Return a sentence on how many lines were read, kept and dropped, and why; refuse a text with nothing kept."""
        reasons = self.cleaned.dropped | dropped
        why = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
        kept = self.cleaned.kept - sum(dropped.values())
        report = f"read {self.cleaned.read:,} lines, kept {kept:,}" + (f" (dropped {why})" if why else "")
        if not kept:
            raise Fault(f"The translations leave no pair to learn from: {report}.")
        return report


def remove_work(work: Path) -> None:
    """Remove the folder in which a text was translated."""
    shutil.rmtree(work, ignore_errors=True)
