"""A request to filter pairs, from the command line or Python."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.base.faults import Fault
from regard.base.files import is_same_file, refuse_missing_folder
from regard.base.progress import Progress
from regard.base.recipe import check
from regard.console import refuse_existing, refuse_folder
from regard.data.corpora.languages import two_languages
from regard.data.corpora.memories import is_memory
from regard.data.corpora.options import Corpus
from regard.runs.filtering.choosing import Rule
from regard.runs.filtering.criteria import Criterion, LanguageModels, Languages, Side, Translators, Vectors
from regard.runs.filtering.filtering import Filtered, filter_pairs


@dataclass(frozen=True)
class FilterRequest:
    """Pairs to filter, the criteria, and which pairs to keep."""

    pairs: Path
    out: Path
    languages: str | None = None
    models: Sequence[Path] = ()
    language_models: Sequence[Path] = ()
    side: Side = "target"
    vectors: Sequence[Path] = ()
    keep: float | None = None
    at_least: Sequence[str] = ()
    scores: bool = False
    columns: str | None = None
    header: bool | None = None
    examples: int = 3
    overwrite: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the criteria, cheapest first; also of the columns of scores."""
        given = {
            "languages": self.languages,
            "model": self.models,
            "language-model": self.language_models,
            "vectors": self.vectors,
        }
        return [name for name, value in given.items() if value]

    def run(self, progress: Progress) -> Filtered:
        """Filter the pairs; refuse every contradiction before a model is loaded."""
        self._check()
        rule = Rule.read(self.names, self.at_least, self.keep, self.scores)
        corpus = _named_corpus(self.pairs, self.columns, self.header, self.languages)
        return filter_pairs(corpus, self._criteria(), rule, self.out, progress, self.scores, self.examples)

    def _check(self) -> None:
        refuse_folder(self.out)
        refuse_missing_folder(self.out)
        if is_same_file(self.out, self.pairs):
            raise Fault(f"{self.out} is the input too; write the pairs to another file.")
        if self.out.suffix in (".gz", ".xz", ".zst"):
            name = f"{self.out} would be plain text under the name of a compressed file"
            raise Fault(f"{name}; omit its {self.out.suffix}.")
        refuse_existing(self.out, self.overwrite)
        several = {"--model": self.models, "--language-model": self.language_models, "--vectors": self.vectors}
        for name, folders in several.items():
            if len(folders) > 2:
                raise Fault(f"{name} is given {len(folders)} times, expected one model or two.")
        if self.side == "source" and not self.language_models:
            raise Fault("--side has no effect without --language-model.")
        if not self.names:
            raise Fault("Say what to filter by: --languages, --model, --language-model or --vectors.")

    def _criteria(self) -> list[Criterion]:
        both = two_languages(self.languages) if self.languages else None
        criteria: list[Criterion] = [Languages(*both)] if both else []
        if self.models:
            criteria.append(Translators(list(map(str, self.models)), both))
        if self.language_models:
            criteria.append(LanguageModels(list(map(str, self.language_models)), self.side))
        if self.vectors:
            criteria.append(Vectors(list(map(str, self.vectors))))
        return criteria


def _named_corpus(pairs: Path, columns: str | None, header: bool | None, languages: str | None) -> Corpus:
    """Return the corpus in a file of pairs; the languages of a translation memory are its columns."""
    if not pairs.exists():
        raise Fault(f"There is no file {pairs}.")
    if pairs.is_fifo():
        raise Fault(f"{pairs} is a pipe, but pairs are read more than once; write it to a file first.")
    if columns is None and languages is not None and is_memory(pairs.name):
        columns = ":".join(two_languages(languages))
    read_as = {"columns": columns, "header": header}
    given = {name: value for name, value in read_as.items() if value is not None}
    return check(Corpus, {"pairs": str(pairs), **given}, "the command")
