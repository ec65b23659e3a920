"""A recipe trained on files that someone brings: which of its options follow from them, and which are its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import Recipe, check
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

HELD_OUT = 0.05  # of a language model's text, where its recipe has files for validation
SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class OwnFiles:
    """Files in place of those that a recipe names, and how they are read."""

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
        """Return such files after those that are not there, and columns that are none, are refused."""
        for path in (*train, *valid, *test):
            if not path.exists():
                raise Fault(f"There is no file {path}.")
        if columns is not None:
            check_columns(columns)
        return cls(train, valid, test, columns, header, languages)

    def names(self) -> dict[str, list[str]]:
        """Return the names of the files of each split that has some, so that they are found from anywhere."""
        return {split: [str(path.resolve()) for path in paths] for split in SPLITS if (paths := getattr(self, split))}


def check_columns(text: str) -> int:
    """Return how many parts a choice of columns has; one that is none is refused."""
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
            f"--data is for recipes that learn from texts, and {with_article(table['family'])} learns from other "
            "things; write its files into a recipe of your own."
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
    """Return how files are read, as far as that was said."""
    said = {"columns": files.columns, "header": files.header}
    return {name: value for name, value in said.items() if value is not None}


def _pairs(data: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options of pairs; how a file holds them stays as the recipe has it, unless columns are chosen."""
    corpus = check(PairData, data | {"train": data.get("train", "demo:train")}).train[0]
    own = corpus.model_dump(exclude_defaults=True, include={"columns", "header", "form", "separator"})
    said = _read_as(files)
    read_as = said if files.columns is not None else own | said
    found = _without(data)
    if files.languages is not None:
        found["source_language"], found["target_language"] = files.languages
    return found | {split: [{"pairs": name, **read_as} for name in names] for split, names in files.names().items()}


def _labelled(data: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options of labelled texts; names and encoding of the recipe's labels belong to its own files."""
    found = _without(data, "names", "encoding", "fold", "format", "columns")
    if files.columns is not None or any(map(_has_columns, files.train)):
        chosen = {"columns": data["columns"]} if isinstance(data.get("columns"), str) else {}
        found |= {"format": "table", **chosen, **_read_as(files)}
    elif "format" in data:
        found["format"] = data["format"]
    return found | files.names()


def _has_columns(path: Path) -> bool:
    """Return True if a file is a table, by its name or by its first line."""
    if kind_by_name(path.name) is not None or is_table(path):
        return True
    return any(is_json_object(line) for line in first_lines(path)[:1])


def _tagged(data: dict[str, Any], training: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options of tagged sentences; the scheme stays if the tags are of it, and is found out otherwise."""
    if files.header is not None:
        raise Fault("--header is for tables; a file of words with tags has none, or one that is seen.")
    is_joined = data.get("layout") == "joined" and files.columns is None
    of_words = all(kind_by_name(str(path)) in (None, "conll", "tsv") for path in files.train)
    keeps = is_joined or of_words or isinstance(data.get("columns"), str)
    found = _without(data, *(() if is_joined else ("layout",)), *(() if keeps else ("columns",)))
    found |= _read_as(files) | files.names()
    options = check(TaggingData, found)
    scheme = fitting_scheme(options)
    changes: dict[str, Any] = {"data": found | {"scheme": scheme}}
    if scheme == "tags" and training.get("best_by") in ("f1", "precision", "recall"):
        changes["training"] = training | {"best_by": "accuracy"}
    return changes


def _texts(data: dict[str, Any], files: OwnFiles) -> dict[str, Any]:
    """Return the options of text; what is not validated on files of its own is held out."""
    if files.columns is not None and check_columns(files.columns) != 1:
        raise Fault(f"--columns is '{files.columns}', and a language model learns from one text, as in --columns text.")
    said = {"column": files.columns, "header": files.header}
    read_as = {name: value for name, value in said.items() if value is not None}
    found = _without(data, "leave_out") | {
        split: [{"file": name, **read_as} if read_as else name for name in names]
        for split, names in files.names().items()
    }
    return found if files.valid or data.get("hold_out") else found | {"hold_out": HELD_OUT}
