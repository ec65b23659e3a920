"""Pairs in tables: parquet and Arrow files, and folders of them as Hugging Face's datasets stores them.

pyarrow reads a thousand rows at a time in a separate process, so large or damaged tables do no harm. A name such as
`translation.en` is a field of a struct column.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.base.confinement import read_confined
from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.parsing import parse_json

ENDINGS = (".parquet", ".arrow")
USUAL_COLUMNS = ("source", "target")

_STATE, _SPLITS = "state.json", "dataset_dict.json"  # in a folder that datasets wrote: lists its files, or its splits


def is_table(path: Path) -> bool:
    """Return True if a path is a table, or a folder that holds one."""
    return path.suffix in ENDINGS or (path.is_dir() and _holds_tables(path))


def table_files(path: Path) -> list[Path]:
    """Return the files of a table in order."""
    if not path.is_dir():
        return [path]
    if (path / _SPLITS).is_file():
        splits = ", ".join(sorted(inner.name for inner in path.iterdir() if (inner / _STATE).is_file()))
        raise Fault(f"{path} holds the splits {splits} of a data set; name one of them, such as {path}/train.")
    if (path / _STATE).is_file():
        return _listed_files(path)
    return sorted(inner for ending in ENDINGS for inner in path.rglob(f"*{ending}"))


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table by column names; null becomes empty, and line ends become spaces."""
    files = table_files(path)
    with importing("data", f"{path}, which is a table,"):
        from regard.data.corpora.table_rows import serve_rows
    for file in files:
        if not file.is_file():
            raise Fault(f"There is no file {file}.")
    for piece in read_confined(serve_rows, {"files": [*map(str, files)], "columns": [*columns]}, path):
        for line in piece.decode().split("\n")[:-1]:
            yield tuple(line.split("\t"))


def _holds_tables(folder: Path) -> bool:
    if (folder / _SPLITS).is_file() or (folder / _STATE).is_file():
        return True
    return any(next(folder.rglob(f"*{ending}"), None) for ending in ENDINGS)


def _listed_files(folder: Path) -> list[Path]:
    """Return the files of a data set in the order in which its folder lists them."""
    try:
        listed = parse_json((folder / _STATE).read_bytes(), _STATE)["_data_files"]
        return [folder / Path(entry["filename"]).name for entry in listed]
    except (OSError, Fault, KeyError, TypeError):
        raise Fault(f"{folder / _STATE} does not list the files of a data set.") from None
