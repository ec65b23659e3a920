"""Small hostile files that took gigabytes or minutes, or ended the process: each replaces an honest one."""

import bz2
import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Sample(NamedTuple):
    """A hostile file: the reader whose honest file it replaces, and words of its refusal."""

    reader: str
    write: Callable[[Path], None]
    words: str


def _of(content: Callable[[], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content()) and None


def _npy_head(shape: str, kind: str = "<f8") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head


def _npz(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _swelling_components() -> bytes:
    """300 MB of zeros, in 1.3 MB."""
    zeros = _npy_head("(37500000,)") + bytes(300_000_000)
    return _npz({"mean.npy": zeros, "proj.npy": b"", "step.npy": b""}, zipfile.ZIP_DEFLATED)


def _damaged_components() -> bytes:
    arrays = {"mean": np.arange(400.0), "proj": np.ones((400, 3)), "step": np.float32(0.5)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    content = bytearray(buffer.getvalue())
    content[60:80] = bytes(20)  # within the packed numbers of the first
    return bytes(content)


def _shared_drawings(path: Path) -> None:
    """One drawing of 10,000 moves, named 8,000 times."""
    from stroke_files import write_archive

    moves = np.zeros((10_000, 3), np.int16)
    moves[:, 0] = np.arange(10_000) % 97 + 1
    write_archive(path, train=[moves] * 8_000, test=[moves])


def _shared_texts() -> bytes:
    """Return a pickle that makes array after array of the same text of a million letters."""
    text = b"X" + struct.pack("<I", 1_000_000) + bytes(1_000_000) + b"q\1"
    kind = b"cnumpy\ndtype\nX\2\0\0\0i1\x85R"
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85X\1\0\0\0b\x87R(K\1J\x40\x42\x0f\0\x85"
        + kind
        + b"\x89h\1tb"
    )
    return b"\x80\2" + text + b"](" + array * 3_000 + b"e."


def _tree_of_keys() -> bytes:
    """Return a pickle with a key whose hash takes time 2⁴⁰: tuples of twice the same tuple."""
    return b"\x80\2}K\1\x85" + b"".join(b"q" + bytes([n]) + b"h" + bytes([n]) + b"\x86" for n in range(40)) + b"K\1s."


def _wrong_offset(path: Path) -> None:
    """Let the last text of a column end far beyond the file."""
    content = path.read_bytes()
    lengths = [len(f"The number {n}.") for n in range(60)]
    offsets = struct.pack("<61i", *np.cumsum([0, *lengths]))
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, offsets[:-4] + struct.pack("<i", 1 << 28)))


def _wrong_text(path: Path) -> None:
    content = path.read_bytes()
    assert b"The number 7." in content
    path.write_bytes(content.replace(b"The number 7.", b"The \xff\xfe\xfdber 7."))


def _plain_parquet(path: Path) -> None:
    """Return a parquet file with uncompressed texts, one of them not UTF-8."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"source": ["The number 7."], "target": ["x"]})
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
    _wrong_text(path)


def _repeated_rows(path: Path) -> None:
    """Return a text of a million letters in each of 5,000 rows, stored once."""
    import pyarrow
    from pyarrow import parquet

    column = pyarrow.DictionaryArray.from_arrays(np.zeros(5_000, np.int32), ["x" * 1_000_000])
    parquet.write_table(pyarrow.table({"source": column, "target": column}), path)


def _with(**fields: object) -> Callable[[Path], None]:
    """Return the honest table with some fields changed."""
    return lambda path: path.write_text(json.dumps(json.loads(path.read_bytes()) | fields)) and None


def _long_name(path: Path) -> None:
    table = json.loads(path.read_bytes())
    table["files"]["n" * 5_000] = ["0" * 64]
    path.write_text(json.dumps(table), encoding="utf-8")


def _sparse(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(20 << 30)


def _small_pieces(path: Path) -> None:
    """Return the model with a million empty pieces, in five megabytes."""
    path.write_bytes(path.read_bytes() + b"\n\3\n\1x" * 1_000_000)


@cache
def _many_tensors() -> bytes:
    about = {f"tensor.{n}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for n in range(100_000)}
    head = json.dumps(about).encode()
    return len(head).to_bytes(8, "little") + head


def _many_pieces(path: Path) -> None:
    """Return the model with a million more pieces."""
    piece = b"\n\7x%06x\x15\0\0\0\xc0"
    pieces = (piece % number for number in range(1_000_000))
    path.write_bytes(path.read_bytes() + b"".join(b"\n" + bytes([len(piece)]) + piece for piece in pieces))


def _growing_frames(path: Path) -> None:
    """Return a video whose third frame claims 65,000 × 1,000 pixels."""
    content = bytearray(path.read_bytes())
    size = struct.pack("<HH", 24, 20)
    places = [place for place in range(len(content)) if content[place : place + 9] == b"," + bytes(4) + size]
    content[places[2] + 5 : places[2] + 9] = struct.pack("<HH", 65_000, 1_000)
    path.write_bytes(content)


def _long_line() -> bytes:
    return gzip.compress(bytes(300_000_000), 1)


def _packed_zstandard() -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(bytes(600_000_000))


def _many_parts() -> bytes:
    return b'{"words": [' + b"[]," * 15_000_000 + b"[]]}"


def _long_stories() -> bytes:
    facts = "".join(f"{n} Mary went there.\n" for n in range(1, 20_001))
    return (facts + "".join(f"{n} Where is Mary?\tthere\t1\n" for n in range(20_001, 40_001))).encode()


def _many_members() -> bytes:
    """Return a zip that lists 300,000 members, all of them the same."""
    one = _npz({"a": b""})
    entry = one[one.index(b"PK\1\2") : one.index(b"PK\5\6")]
    listed = entry * 300_000
    start = one.index(b"PK\1\2")
    end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 300_000, 300_000, len(listed), start)
    end += struct.pack("<4sIQI", b"PK\6\7", 0, start + len(listed), 1)
    end += struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return one[:start] + listed + end


def _expanded_tensors(path: Path) -> None:
    """Return weights of one number each that claim to be matrices of 100 million."""
    import torch

    weights = torch.load(path, weights_only=True)
    torch.save({name: torch.zeros(1).expand(10_000, 10_000) for name in weights}, path)


SAMPLES: dict[str, Sample] = {
    "a place of 10⁸ in 7 bytes": Sample(
        "Planetoid, neighbours", _of(lambda: b"]r" + struct.pack("<I", 10**8) + b"."), "something else"
    ),
    "a key whose hash never ends": Sample("Planetoid, neighbours", _of(_tree_of_keys), "a key"),
    "one text for many arrays": Sample("Planetoid, neighbours", _of(_shared_texts), "share more"),
    "one drawing 8,000 times": Sample("drawings, archive", _shared_drawings, "share more"),
    "drawings packed by bzip2": Sample(
        "drawings, archive", _of(lambda: _npz({"train.npy": bytes(10**6)}, zipfile.ZIP_BZIP2)), "packed by a method"
    ),
    "an array of 10⁹ numbers in 200 bytes": Sample(
        "array", _of(lambda: _npy_head("(1000000000,)") + bytes(8)), "claims"
    ),
    "an archive of 10⁹ numbers": Sample(
        "components",
        _of(lambda: _npz({"mean.npy": _npy_head("(1000000000,)"), "proj.npy": b"", "step.npy": b""})),
        "not an .npz",
    ),
    "components packed by LZMA": Sample(
        "components", _of(lambda: _npz({"mean.npy": bytes(10**6)}, zipfile.ZIP_LZMA)), "not an .npz"
    ),
    "components that swell": Sample("components", _of(_swelling_components), "not an .npz"),
    "damaged components": Sample("components", _of(_damaged_components), "not an .npz"),
    "a shortlist packed by bzip2": Sample(
        "shortlist", _of(lambda: _npz({"common.npy": bytes(10**6)}, zipfile.ZIP_BZIP2)), "packed by a method"
    ),
    "an offset outside": Sample("table, Arrow stream", _wrong_offset, "damaged or not a table"),
    "an offset outside of a file": Sample("table, Arrow file", _wrong_offset, "damaged or not a table"),
    "text that is no UTF-8, Arrow": Sample("table, Arrow stream", _wrong_text, "UTF8"),
    "text that is no UTF-8, parquet": Sample("table, parquet", _plain_parquet, "UTF8"),
    "a row that is repeated": Sample("table, parquet", _repeated_rows, "damaged or"),
    "a manifest with a long name": Sample("model, manifest", _long_name, "outside the folder"),
    "a rate of 10³⁰ samples": Sample("model, alphabet", _with(rate=10**30), "missing or damaged"),
    "a rate of another model": Sample("model, voices", _with(rate=1001), "missing or damaged"),
    "drawings that go 10³⁰ units": Sample("model, scale of strokes", _with(bound=10**30), "missing or damaged"),
    "movements of 10³⁰ units": Sample(
        "model, scale of strokes", _with(movements=[(10**30, 0)], counts=[1]), "missing or damaged"
    ),
    "20 GiB of sparse weights": Sample("model, weights", _sparse, "but its content needs only"),
    "100,000 tensors": Sample("model, weights", _of(_many_tensors), "tensors"),
    "100,000 tensors of another tool": Sample("BERT, weights", _of(_many_tensors), "tensors"),
    "tensors larger than their file": Sample("Marian, pickle", _expanded_tensors, "far larger than the file"),
    "a million pieces": Sample("tokeniser, subwords", _many_pieces, "SentencePiece models may have at most"),
    "a million small pieces": Sample("tokeniser, subwords", _small_pieces, "more than 300,000 pieces"),
    "a frame that grows": Sample("video", _growing_frames, "has frames of"),
    "a line of 300 MB": Sample("text, gzip", _of(_long_line), "cannot be decompressed"),
    "600 MB by Zstandard": Sample("text, Zstandard", _of(_packed_zstandard), "cannot be decompressed"),
    "15 million empty lists": Sample("tokeniser, words", _of(_many_parts), "for such a file"),
    "20,000 questions of one story": Sample("stories", _of(_long_stories), "too many questions"),
    "300,000 members": Sample("components", _of(_many_members), "not an .npz"),
    "pictures packed by nothing known": Sample(
        "pictures in a tar", _of(lambda: bz2.compress(bytes(10**7))), "has no picture"
    ),
}
