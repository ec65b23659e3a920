"""Train a recipe on the user's own files: some options follow from the files, the others stay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import Recipe, check
from regard.data.corpora.memories import is_memory
from regard.data.corpora.options import PairData
from regard.data.corpora.tables import is_table
from regard.data.labelled.options import LabelledData
from regard.data.lines import first_lines
from regard.data.tables.columns import parse_columns
from regard.data.tables.formats import is_json_object, kind_by_name
from regard.data.tagging.files import fitting_scheme
from regard.data.tagging.options import TaggingData
from regard.data.texts.options import LanguageData
from regard.families import FAMILIES, recipe_class, refuse_family, with_article

HELD_OUT = 0.05  # of a language model's text, if its recipe has validation files
SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class OwnFiles:
    """Files that replace those of a recipe, and how to read them."""

    train: Sequence[Path]
    valid: Sequence[Path] = ()
    test: Sequence[Path] = ()
    columns: str | None = None
    header: bool | None = None
    languages: tuple[str, str] | None = None

    @classmethod
    def checked(
        cls,
        train: Sequence[Path],
        valid: Sequence[Path] = (),
        test: Sequence[Path] = (),
        columns: str | None = None,
        header: bool | None = None,
        languages: tuple[str, str] | None = None,
    ) -> "OwnFiles":
        """Return these files; refuse missing files and invalid columns."""
        for path in (*train, *valid, *test):
            if not path.exists():
                raise Fault(f"There is no file {path}.")
        if columns is not None:
            check_columns(columns)
        return cls(train, valid, test, columns, header, languages)

    def names(self) -> dict[str, list[str]]:
        """Return the absolute file names of each split that has files."""
        return {split: [str(path.resolve()) for path in paths] for split in SPLITS if (paths := getattr(self, split))}


def check_columns(text: str) -> int:
    """Return the number of parts in a choice of columns; refuse an invalid one."""
    try:
        return len(parse_columns(text))
    except ValueError as error:
        raise Fault(f"--columns: {error}.") from None


def with_own_data(table: Mapping[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the table of a recipe that learns from these files instead of its own."""
    data = dict(table.get("data", {}))
    kind = _data_class(table)
    changes: dict[str, Any] = {"data": data}
    if issubclass(kind, PairData):
        changes["data"] = _pairs(data, files)
    elif files.languages is not None:
        raise Fault("--languages is for translators.")
    elif issubclass(kind, LabelledData):
        changes["data"] = _labelled(data, files)
    elif issubclass(kind, TaggingData):
        changes |= _tagged(data, dict(table.get("training", {})), files)
    elif issubclass(kind, LanguageData):
        changes["data"] = _texts(data, files)
    else:
        raise Fault(
            f"--data is for pairs, labelled texts, tagged sentences and text to continue, and "
            f"{with_article(table['family'])} learns from none of these; write its files into your own recipe."
        )
    return {**table, **changes}


def _data_class(table: Mapping[str, Any]) -> type[Any]:
    """Return the class of the data of a recipe."""
    family = table.get("family", Recipe.model_fields["family"].default)
    if family not in FAMILIES:
        raise refuse_family(family)
    task = table.get("task", FAMILIES[family].tasks[0])
    kind = recipe_class(family, task).model_fields["data"].annotation
    assert isinstance(kind, type)
    return kind


def _without(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in (*SPLITS, *names)}


def _read_as(files: OwnFiles) -> dict[str, Any]:
    """Return the options given for reading the files."""
    options = {"columns": files.columns, "header": files.header}
    return {name: value for name, value in options.items() if value is not None}


def _pairs(data: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options for pairs; files are read as the recipe says, unless columns are chosen."""
    corpus = check(PairData, data | {"train": data.get("train", "demo:train")}).train[0]
    from_recipe = corpus.model_dump(exclude_defaults=True, include={"columns", "header", "form", "separator"})
    from_files = _read_as(files)
    read_as = from_files if files.columns is not None else from_recipe | from_files
    options = _without(data)
    if files.languages is not None:
        options["source_language"], options["target_language"] = files.languages
    languages = [options[side] for side in ("source_language", "target_language") if side in options]

    def corpus_in(name: str) -> dict[str, Any]:
        if files.columns is None and is_memory(name):
            return {"pairs": name} | ({"columns": languages} if len(languages) == 2 else {})
        return {"pairs": name, **read_as}

    return options | {split: list(map(corpus_in, names)) for split, names in files.names().items()}


def _labelled(data: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options for labelled texts; label names and encoding belong to the recipe's own files."""
    options = _without(data, "names", "encoding", "fold", "format", "columns")
    if files.columns is not None or any(map(_has_columns, files.train)):
        chosen = {"columns": data["columns"]} if isinstance(data.get("columns"), str) else {}
        options |= {"format": "table", **chosen, **_read_as(files)}
    elif "format" in data:
        options["format"] = data["format"]
    return options | files.names()


def _has_columns(path: Path) -> bool:
    """Return True if a file is a table, judged by its name or first line."""
    if kind_by_name(path.name) is not None or is_table(path):
        return True
    return any(is_json_object(line) for line in first_lines(path)[:1])


def _tagged(data: dict[str, Any], training: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options for tagged sentences; the scheme stays if the tags fit it, and is detected otherwise."""
    if files.header is not None:
        raise Fault("--header is for tables; tagged words have no header, or one that is detected.")
    is_joined = data.get("layout") == "joined" and files.columns is None
    are_columns = all(kind_by_name(str(path)) in (None, "conll", "tsv") for path in files.train)
    keeps = is_joined or are_columns or isinstance(data.get("columns"), str)
    changed_data = _without(data, *(() if is_joined else ("layout",)), *(() if keeps else ("columns",)))
    changed_data |= _read_as(files) | files.names()
    options = check(TaggingData, changed_data)
    scheme = fitting_scheme(options)
    changes: dict[str, Any] = {"data": changed_data | {"scheme": scheme}}
    if scheme == "tags" and training.get("best_by") in ("f1", "precision", "recall"):
        changes["training"] = training | {"best_by": "accuracy"}
    return changes


def _texts(data: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options for text; without validation files, some text is held out."""
    if files.columns is not None and check_columns(files.columns) != 1:
        raise Fault(f"--columns is '{files.columns}', but a language model reads one column, as in --columns text.")
    options = {"column": files.columns, "header": files.header}
    read_as = {name: value for name, value in options.items() if value is not None}
    changed_data = _without(data, "leave_out") | {
        split: [{"file": name, **read_as} if read_as else name for name in names]
        for split, names in files.names().items()
    }
    return changed_data if files.valid or data.get("hold_out") else changed_data | {"hold_out": HELD_OUT}
