"""Which kind of table a file is, by its name and, where that says nothing, by its first lines."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from regard.base.faults import Fault
from regard.data.catalogue.unpack import bare

TableKind = Literal["tsv", "csv", "jsonl", "conllu", "conll"]

_BY_ENDING: dict[str, TableKind] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".conllu": "conllu",
    ".conllup": "conllu",
    ".conll": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
    ".tsv": "tsv",
}
NAMES: dict[TableKind, str] = {
    "tsv": "a table between tabs",
    "csv": "a CSV file",
    "jsonl": "JSON lines",
    "conllu": "a CoNLL-U file",
    "conll": "a file of words with tags",
}
_OBJECT = re.compile(r'\s*\{\s*(?:"|\})')
_ID = re.compile(r"1(?:-\d+)?|0\.1")
_FIELDS = 10  # of CoNLL-U


def kind_by_name(name: str) -> TableKind | None:
    """Return the kind that the ending of a file's name stands for, packed or not; None if it stands for none."""
    return _BY_ENDING.get(Path(bare(name)).suffix.lower())


def kind_of_table(name: str, first_lines: Sequence[str], usual: TableKind = "tsv") -> TableKind:
    """Return the kind of a table; `usual` is what a file is taken for that does not say."""
    known = kind_by_name(name)
    said = [line for line in first_lines if line.strip()]
    if said and said[0].lstrip().startswith("[") and known == "jsonl":
        raise Fault(f"{name} is one JSON list; write an object on each line, as `jq -c '.[]' {Path(name).name}` does.")
    if known in (None, "tsv", "conll") and said and is_json_object(said[0]):
        return "jsonl"
    if known in (None, "conll") and usual == "conll" and _is_conllu(said):
        return "conllu"
    return usual if known is None or (known, usual) == ("tsv", "conll") else known


def is_json_object(line: str) -> bool:
    """Return True if a line is a JSON object by its first and last characters, and not two columns."""
    return bool(_OBJECT.match(line)) and line.rstrip().endswith("}") and "\t" not in line


def _is_conllu(lines: Sequence[str]) -> bool:
    words = [line for line in lines if not line.startswith("#")]
    return bool(words) and words[0].count("\t") == _FIELDS - 1 and bool(_ID.fullmatch(words[0].partition("\t")[0]))
