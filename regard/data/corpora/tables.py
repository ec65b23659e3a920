"""Pairs in tables: parquet and Arrow files, and folders of them as Hugging Face's datasets are kept, read by pyarrow.

A table is read some thousand rows at a time, so its size does not matter. A name such as `translation.en` is a field of
a column of structures.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.parsing import parse_json

ENDINGS = (".parquet", ".arrow")
USUAL_COLUMNS = ("source", "target")

_ROWS = 10_000  # read at a time
_STATE, _SPLITS = "state.json", "dataset_dict.json"  # of a folder that datasets wrote: its files, or its splits


def is_table(path: Path) -> bool:
    """Whether a path is a table, or a folder that holds one."""
    return path.suffix in ENDINGS or (path.is_dir() and _holds_tables(path))


def table_files(path: Path) -> list[Path]:
    """The files of a table in their order."""
    if not path.is_dir():
        return [path]
    if (path / _SPLITS).is_file():
        splits = ", ".join(sorted(inner.name for inner in path.iterdir() if (inner / _STATE).is_file()))
        raise Fault(f"{path} holds the splits {splits} of a data set; name one of them, as {path}/train.")
    if (path / _STATE).is_file():
        return _listed_files(path)
    return sorted(inner for ending in ENDINGS for inner in path.rglob(f"*{ending}"))


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return the rows of a table by the names of its columns; what is null is empty, and what ends a line a space."""
    for file in table_files(path):
        for batch in _batches(file, columns):
            sides = [_texts(batch, name, file) for name in columns]
            yield from zip(*sides, strict=True)


def _holds_tables(folder: Path) -> bool:
    if (folder / _SPLITS).is_file() or (folder / _STATE).is_file():
        return True
    return any(next(folder.rglob(f"*{ending}"), None) for ending in ENDINGS)


def _listed_files(folder: Path) -> list[Path]:
    """The files of a data set in the order in which its folder lists them."""
    try:
        listed = parse_json((folder / _STATE).read_bytes(), _STATE)["_data_files"]
        return [folder / Path(each["filename"]).name for each in listed]
    except (OSError, Fault, KeyError, TypeError):
        raise Fault(f"{folder / _STATE} does not list the files of a data set.") from None


def _batches(file: Path, columns: Sequence[str]) -> Iterator[Any]:
    """The record batches of one file, with no more columns than are asked for where the format allows it."""
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise Fault(f"{file} is a table, which is read with `pip install 'regard[data]'`.") from None
    if not file.is_file():
        raise Fault(f"There is no file {file}.")
    try:
        if file.suffix == ".parquet":
            with parquet.ParquetFile(file) as table:
                _check_columns(table.schema_arrow, columns, file)
                tops = list(dict.fromkeys(name.partition(".")[0] for name in columns))
                yield from table.iter_batches(_ROWS, columns=tops)
            return
        with pyarrow.memory_map(str(file)) as content, _open_arrow(ipc, content) as table:
            _check_columns(table.schema, columns, file)
            for batch in _arrow_batches(table):
                for first in range(0, batch.num_rows, _ROWS):
                    yield batch.slice(first, _ROWS)
    except (pyarrow.ArrowException, OSError) as error:
        raise Fault(f"{file} is damaged or no table: {str(error).splitlines()[0].rstrip('.')}.") from None


def _open_arrow(ipc: Any, content: Any) -> Any:
    """An Arrow file, whether as a stream, which datasets writes, or as a file of random access."""
    is_file = content.read(6) == b"ARROW1"
    content.seek(0)
    return ipc.open_file(content) if is_file else ipc.open_stream(content)


def _arrow_batches(table: Any) -> Iterator[Any]:
    if hasattr(table, "get_batch"):
        return (table.get_batch(number) for number in range(table.num_record_batches))
    return iter(table)


def _check_columns(schema: Any, columns: Sequence[str], file: Path) -> None:
    known = [name for field in schema for name in _names(field)]
    for name in columns:
        if name not in known:
            raise Fault(
                f"{file} has no column '{name}'; it has {', '.join(known)}. Name two of them as columns of the corpus."
            )


def _names(field: Any) -> list[str]:
    inner = [field.type.field(number).name for number in range(field.type.num_fields)] if _is_struct(field) else []
    return [f"{field.name}.{name}" for name in inner] or [field.name]


def _is_struct(field: Any) -> bool:
    return str(field.type).startswith("struct<")


def _texts(batch: Any, name: str, file: Path) -> list[str]:
    """The texts of a column, each on one line."""
    top, _, inner = name.partition(".")
    column = batch.column(top)
    values = column.field(inner) if inner else column
    texts = values.to_pylist()
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise Fault(f"{file}: the column '{name}' is of {values.type}, not of text.")
    return [" ".join(text.split("\n")).replace("\t", " ") if text else "" for text in texts]
