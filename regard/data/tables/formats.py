"""Recognise the format of a table by its file name or, if that says nothing, by its first lines."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from regard.base.faults import Fault
from regard.data.catalogue.unpack import bare

TableKind = Literal["tsv", "csv", "jsonl", "conllu", "conll", "tmx", "xliff"]

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
    ".tmx": "tmx",
    ".xliff": "xliff",
    ".xlf": "xliff",
}
NAMES: dict[TableKind, str] = {
    "tsv": "a tab-separated table",
    "csv": "a CSV file",
    "jsonl": "JSON lines",
    "conllu": "a CoNLL-U file",
    "conll": "a file of words with tags",
    "tmx": "a TMX file",
    "xliff": "an XLIFF file",
}
MARKED_UP: tuple[TableKind, ...] = ("csv", "jsonl", "conllu", "tmx", "xliff")  # a line of them is never a text
_OBJECT = re.compile(r'\s*\{\s*(?:"|\})')
_ID = re.compile(r"1(?:-\d+)?|0\.1")
_FIELDS = 10  # in CoNLL-U


def kind_by_name(name: str) -> TableKind | None:
    """Return the format that a file's suffix stands for, packed or not, or None."""
    return _BY_ENDING.get(Path(bare(name)).suffix.lower())


def kind_of_table(name: str, first_lines: Sequence[str], usual: TableKind = "tsv") -> TableKind:
    """Return the format of a table; `usual` applies if neither name nor content says."""
    named_kind = kind_by_name(name)
    content = [line for line in first_lines if line.strip()]
    if content and content[0].lstrip().startswith("[") and named_kind == "jsonl":
        raise Fault(f"{name} is one JSON list; write an object on each line, as `jq -c '.[]' {Path(name).name}` does.")
    if named_kind in (None, "tsv", "conll") and content and is_json_object(content[0]):
        return "jsonl"
    if named_kind in (None, "conll") and usual == "conll" and _is_conllu(content):
        return "conllu"
    return usual if named_kind is None or (named_kind, usual) == ("tsv", "conll") else named_kind


def is_json_object(line: str) -> bool:
    """Return True if a line looks like a JSON object by its first and last characters, not like two columns."""
    return bool(_OBJECT.match(line)) and line.rstrip().endswith("}") and "\t" not in line


def _is_conllu(lines: Sequence[str]) -> bool:
    words = [line for line in lines if not line.startswith("#")]
    return bool(words) and words[0].count("\t") == _FIELDS - 1 and bool(_ID.fullmatch(words[0].partition("\t")[0]))
