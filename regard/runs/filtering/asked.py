"""The corpus and the criteria that a command names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora.options import Corpus
from regard.runs.filtering.criteria import Criterion, LanguageModels, Languages, Translators, Vectors


def named_corpus(pairs: Path, columns: str | None, header: bool | None) -> Corpus:
    """Return the corpus in a file of pairs."""
    if not pairs.exists():
        raise Fault(f"There is no file {pairs}.")
    if pairs.is_fifo():
        raise Fault(f"{pairs} is a pipe, but pairs are read more than once; write it to a file first.")
    read_as = {"columns": columns, "header": header}
    given = {name: value for name, value in read_as.items() if value is not None}
    return check(Corpus, {"pairs": str(pairs), **given}, "the command")


def criteria_of(
    languages: str | None,
    models: Sequence[Path],
    language_models: Sequence[Path],
    side: Literal["source", "target"],
    vectors: Sequence[Path],
) -> list[Criterion]:
    """Return the criteria, cheapest first; refuse if there are none, or too many models for one."""
    for name, folders in {"--model": models, "--language-model": language_models, "--vectors": vectors}.items():
        if len(folders) > 2:
            raise Fault(f"{name} is given {len(folders)} times, expected one model or two.")
    if side == "source" and not language_models:
        raise Fault("--side has no effect without --language-model.")
    both = _two_languages(languages) if languages is not None else None
    criteria: list[Criterion] = [Languages(*both)] if both else []
    if models:
        criteria.append(Translators(list(map(str, models)), both))
    if language_models:
        criteria.append(LanguageModels(list(map(str, language_models)), side))
    if vectors:
        criteria.append(Vectors(list(map(str, vectors))))
    if not criteria:
        raise Fault("Say what to filter by: --languages, --model, --language-model or --vectors.")
    return criteria


def _two_languages(languages: str) -> tuple[str, str]:
    source, hyphen, target = languages.partition("-")
    if not (hyphen and source and target):
        raise Fault(f"--languages is '{languages}', expected two codes with a hyphen, as in en-pt.")
    return source, target
