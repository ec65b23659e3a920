"""A graph of seven nodes in Planetoid's files, with pickles written opcode by opcode as Python 2 did."""

import struct
from pathlib import Path

import numpy as np

VALIDATION = 2  # nodes; the real graphs have 500
# Nodes 0 to 3, and for the test 6 and 4, in that order; of node 5 the files have only its number.
REST = np.array([[1, 0, 0], [0, 2, 2], [0, 0, 0], [3, 0, 1]], dtype="<f4")
TEST = np.array([[0, 5, 0], [0, 0, 4]], dtype="<f4")
LABELS = np.array([[1, 0], [0, 1], [1, 0], [0, 1]], dtype="<i4")
TEST_LABELS = np.array([[0, 1], [1, 0]], dtype="<i4")
NEIGHBOURS = {0: [1, 1], 1: [0, 2], 2: [1, 2], 3: [4], 4: [3], 6: [0]}


def write_graph(folder: Path, graph: str = "cora") -> None:
    """Write all eight files, as `regard data get planetoid` would."""
    (folder / "planetoid").mkdir(parents=True, exist_ok=True)
    contents = {
        "x": matrix(REST[:1]),
        "y": array(LABELS[:1]),
        "allx": matrix(REST),
        "ally": array(LABELS),
        "tx": matrix(TEST),
        "ty": array(TEST_LABELS),
        "graph": neighbours(NEIGHBOURS),
    }
    for kind, content in contents.items():
        write_pickle(folder, f"{graph}.{kind}", content)
    (folder / "planetoid" / f"ind.{graph}.test.index").write_text("6\n4\n", encoding="ascii")


def write_pickle(folder: Path, name: str, content: bytes) -> None:
    (folder / "planetoid" / f"ind.{name}").write_bytes(b"\x80\x02" + content + b".")


def number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


def short(text: str) -> bytes:
    return b"U" + bytes([len(text)]) + text.encode("latin1")


def array(values: np.ndarray, kind: str | None = None) -> bytes:
    kind = kind or values.dtype.str[1:]
    dtype = b"cnumpy\ndtype\n" + short(kind) + number(0) + number(1) + b"\x87R"
    dtype += b"(" + number(3) + short("<") + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
    shape = b"(" + b"".join(map(number, values.shape)) + b"t"
    content = b"T" + struct.pack("<i", values.nbytes) + values.tobytes()
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + number(0) + b"\x85" + short("b") + b"\x87R"
    return empty + b"(" + number(1) + shape + dtype + b"\x89" + content + b"tb"


def matrix(dense: np.ndarray) -> bytes:
    rows, columns = dense.nonzero()
    starts = np.searchsorted(rows, np.arange(len(dense) + 1)).astype("<i4")
    shape = b"(" + b"".join(map(number, dense.shape)) + b"t"
    parts = {
        "_shape": shape,
        "indptr": array(starts),
        "indices": array(columns.astype("<i4")),
        "data": array(dense[dense != 0]),
    }
    state = b"}(" + b"".join(short(name) + part for name, part in parts.items()) + b"u"
    return b"cscipy.sparse.csr\ncsr_matrix\n)\x81" + state + b"b"


def neighbours(table: dict[int, list[int]]) -> bytes:
    rows = b"".join(number(node) + b"](" + b"".join(map(number, others)) + b"e" for node, others in table.items())
    return b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" + rows + b"u"
