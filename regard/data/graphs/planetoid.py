"""Read Planetoid's graphs Cora and Citeseer (Yang et al. 2016): Python 2 pickles, read so that nothing in them can run.

Eight files make a graph: x and y hold the features and labels of the training nodes; allx and ally those of all nodes
except the test's; tx and ty those of the test nodes, whose numbers are in test.index; graph holds each node's
neighbours.
"""

from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from regard.base.faults import Fault
from regard.data.catalogue.entries import locate
from regard.data.catalogue.unpack import Unusable, read_content
from regard.data.graphs.labelled import SPLITS, UNKNOWN, Features, LabelledGraph, check_graph, sort_looks
from regard.data.pickles import ARRAYS, Admitted, PickledArray, unpickle

VALIDATION = 500  # nodes after the training nodes are for validation, in all published results
_TIMES_NODES = 2  # most nodes for each one in a table
_LARGEST = 2**26  # bytes of a file; the set's largest has 600 kB
Expected = TypeVar("Expected")


def read_planetoid(name: str, normalise: bool) -> LabelledGraph:
    """Read a graph such as `planetoid:cora`, with its published split."""
    graph = name.partition(":")[2]

    def part(kind: str) -> Path:
        return locate(f"planetoid:ind.{graph}.{kind}")

    rest, test = _table(part("allx")), _table(part("tx"))
    rest_labels, test_labels = _labels(part("ally")), _labels(part("ty"))
    trained, test_nodes = len(_labels(part("y"))), _node_numbers(part("test.index"))
    looks = _looks(part("graph"))
    nodes = max(int(test_nodes.max()), int(looks.max())) + 1
    are_few = rest.nodes <= nodes <= _TIMES_NODES * (rest.nodes + test.nodes)  # 15 of Citeseer's are in no table
    if not len(test_nodes) == test.nodes == len(test_labels) or rest.nodes != len(rest_labels) or not are_few:
        raise Fault(f"{name}: its files do not fit together; `regard data get planetoid` verifies them.")
    places = np.concatenate([np.arange(rest.nodes), test_nodes])
    labels = np.full(nodes, UNKNOWN)
    labels[places] = np.concatenate([rest_labels, test_labels])
    splits = np.zeros(nodes, dtype=np.int8)
    splits[:trained] = SPLITS.index("train")
    splits[trained : trained + VALIDATION] = SPLITS.index("valid")
    splits[test_nodes] = SPLITS.index("test")
    features = _stack(rest, test, places, nodes)
    classes = tuple(map(str, range(labels.max() + 1)))  # the files give them no names
    labelled_graph = LabelledGraph(
        features.normalise() if normalise else features, sort_looks(looks, nodes), labels, splits, classes
    )
    return check_graph(labelled_graph, name)


def _stack(rest: Features, test: Features, places: np.ndarray, nodes: int) -> Features:
    """Stack both tables, each row at its node's place. Nodes in neither (15 of Citeseer's) get zeros."""
    lengths = np.zeros(nodes, dtype=np.int64)
    lengths[places] = np.concatenate([np.diff(rest.starts), np.diff(test.starts)])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(places, lengths[places])
    order = np.argsort(rows, kind="stable")
    values, columns = np.concatenate([rest.values, test.values]), np.concatenate([rest.columns, test.columns])
    return Features(values[order], columns[order], starts, max(rest.width, test.width))


def _table(path: Path) -> Features:
    table = _unpickle(path, _SparseMatrix)
    values, columns, starts = (_numbers(part, path) for part in table.parts)
    rows, width = table.shape
    fits = len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == len(columns) == len(values)
    if not fits or (np.diff(starts) < 0).any() or columns.min(initial=0) < 0 or columns.max(initial=0) >= width:
        raise _damage(path, "its matrix does not fit together")
    return Features(values.astype(np.float32), columns.astype(np.int64), starts.astype(np.int64), width)


def _labels(path: Path) -> np.ndarray:
    """Return the class number of each row, from a one-hot table."""
    table = _numbers(_unpickle(path, PickledArray), path)
    if table.ndim != 2:
        raise _damage(path, "it is not a table")
    return np.where(table.any(axis=1), table.argmax(axis=1), UNKNOWN)


def _numbers(array: Any, path: Path) -> np.ndarray:
    if not isinstance(array, PickledArray) or not isinstance(array.content, np.ndarray):
        raise _damage(path, "an array of something other than plain numbers")
    return array.content


def _looks(path: Path) -> np.ndarray:
    """Read the edges, in both directions."""
    neighbours = _unpickle(path, defaultdict)
    lists = [*neighbours.values()]
    if not all(type(others) is list for others in lists):
        raise _damage(path, "it is not a table of neighbours")
    edges = sum(map(len, lists))
    if edges > path.stat().st_size:  # each takes at least a byte unless nodes share a list
        raise _damage(path, "its lists of neighbours are shared")
    if not edges or not all(type(node) is int and 0 <= node < 2**31 for node in chain(neighbours, *lists)):
        raise _damage(path, "it is not a table of neighbours")
    nodes = np.repeat(np.fromiter(neighbours, np.int64, len(lists)), [*map(len, lists)])
    others = np.fromiter(chain.from_iterable(lists), np.int64, edges)
    return np.stack([np.concatenate([nodes, others]), np.concatenate([others, nodes])])


def _node_numbers(path: Path) -> np.ndarray:
    try:
        numbers = np.array([int(line) for line in read_content(path, _LARGEST).split()], dtype=np.int64)
    except (ValueError, OverflowError):
        raise _damage(path, "it is not a list of numbers") from None
    except Unusable as reason:
        raise _damage(path, f"it {reason}") from None
    if not len(numbers) or numbers.min() < 0:
        raise _damage(path, "it is not a list of nodes")
    return numbers


def _damage(path: Path, reason: str) -> Fault:
    return Fault(f"{path} is damaged, or not a Planetoid file: {reason}.")


class _SparseMatrix:
    """Stand-in for scipy.sparse.csr_matrix."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.shape, self.parts = state["_shape"], [state[name] for name in ("data", "indices", "indptr")]


_ADMITTED: Admitted = {
    **ARRAYS,
    ("scipy.sparse.csr", "csr_matrix"): _SparseMatrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


def _unpickle(path: Path, expected: type[Expected]) -> Expected:
    """Unpickle a value and check that it has the expected type."""
    try:
        content = read_content(path, _LARGEST)
    except Unusable as reason:
        raise _damage(path, f"it {reason}") from None
    try:
        value = unpickle(content, _ADMITTED)
    except Exception as error:  # a damaged or hostile pickle may raise anything; it runs nothing
        raise _damage(path, str(error).rstrip(".") or type(error).__name__) from None
    if type(value) is not expected:
        raise _damage(path, "it holds something else")
    return value
