"""Read rows of parquet and Arrow files with pyarrow in a separate process; see `regard.base.confinement`.

Nothing is memory-mapped: a wrong offset in a mapped file would kill the process.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import ipc, parquet

from regard.base.confinement import allow_file, serve
from regard.base.faults import Fault

_ROWS = 1_000  # read at a time
_FREE_ROWS, _ROWS_A_BYTE = 1_000_000, 10  # per file: packed tables can repeat a row at no cost
_FREE_TEXT, _TEXT_A_BYTE = 1 << 25, 50  # bytes of text, as for other packed files
_TEXT = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_string_view, pyarrow.types.is_null)


def serve_rows(descriptor: int) -> None:
    """Serve the rows of some files, by column names."""
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # other pools reserve more than this process may have
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    serve(descriptor, _read_files)


def _read_files(request: dict[str, list[str]]) -> Iterator[bytes]:
    for name in request["files"]:
        file = Path(name)
        allow_file(file)
        try:
            yield from _within_reason(_read_file(file, request["columns"]), file)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
            raise Fault(f"{file} is damaged or not a table: {reason}.") from None
        except MemoryError:
            raise Fault(f"{file} is damaged or not a table: it takes far more memory than its size.") from None


def _within_reason(pieces: Iterator[tuple[int, bytes]], file: Path) -> Iterator[bytes]:
    """Yield pieces until they have more rows or text than a file of this size could have."""
    size, rows, text = file.stat().st_size, 0, 0
    for count, piece in pieces:
        rows, text = rows + count, text + len(piece)
        if rows > _FREE_ROWS + _ROWS_A_BYTE * size or text > max(_FREE_TEXT, _TEXT_A_BYTE * size):
            raise Fault(f"{file} holds implausibly many rows or much text for its {size:,} bytes.")
        yield piece


def _read_file(file: Path, columns: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """Yield some rows at a time: their number, and one line each with tabs between the columns."""
    for batch in _batches(file, columns):
        for first in range(0, batch.num_rows, _ROWS):
            some = batch.slice(first, _ROWS)
            sides = [_texts(some, name, file) for name in columns]
            yield some.num_rows, "".join("\t".join(row) + "\n" for row in zip(*sides, strict=True)).encode()


def _batches(file: Path, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the record batches of a file, with only the requested columns if the format allows it."""
    if file.suffix == ".parquet":
        with pyarrow.OSFile(str(file)) as content, parquet.ParquetFile(content) as table:
            _check_columns(table.schema_arrow, columns, file)
            tops = list(dict.fromkeys(name.partition(".")[0] for name in columns))
            yield from table.iter_batches(_ROWS, columns=tops, use_threads=False)
        return
    with pyarrow.OSFile(str(file)) as content, _open_arrow(content) as table:
        _check_columns(table.schema, columns, file)
        if hasattr(table, "get_batch"):
            yield from (table.get_batch(number) for number in range(table.num_record_batches))
        else:
            yield from table


def _open_arrow(content: Any) -> Any:
    """Open an Arrow file, either a stream, as datasets writes, or a random-access file."""
    is_file = content.read(6) == b"ARROW1"
    content.seek(0)
    return ipc.open_file(content) if is_file else ipc.open_stream(content)


def _check_columns(schema: Any, columns: Sequence[str], file: Path) -> None:
    names = [name for field in schema for name in _names(field)]
    for name in columns:
        if name not in names:
            raise Fault(
                f"{file} has no column '{name}'; it has {', '.join(names)}. Name two of them as columns of the corpus."
            )
        if names.count(name) > 1:
            raise Fault(f"{file} has {names.count(name)} columns named '{name}'; rename all but one.")


def _names(field: Any) -> list[str]:
    if not pyarrow.types.is_struct(field.type):
        return [field.name]
    return [f"{field.name}.{field.type.field(number).name}" for number in range(field.type.num_fields)] or [field.name]


def _texts(batch: Any, name: str, file: Path) -> list[str]:
    """Return the texts of a column, each on one line."""
    top, _, inner = name.partition(".")
    column = batch.column(top)
    column.validate(full=True)  # offsets and UTF-8, which pyarrow trusts otherwise
    values = column.field(inner) if inner else column
    kind = values.type.value_type if pyarrow.types.is_dictionary(values.type) else values.type
    if not any(is_text(kind) for is_text in _TEXT):
        raise Fault(f"{file}: the column '{name}' holds {values.type}, not text.")
    return [" ".join(text.split("\n")).replace("\t", " ") if text else "" for text in values.to_pylist()]
