"""Prepare a recipe's graph: read plain files of edges, features, labels and splits once, then open one file."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import write_file
from regard.data.corpora.text import file_of
from regard.data.graphs.labelled import (
    CLASSES_FILE,
    GRAPH_FILE,
    SPLITS,
    UNKNOWN,
    Features,
    LabelledGraph,
    check_graph,
    open_graph,
    sort_looks,
)
from regard.data.graphs.options import GraphData
from regard.data.graphs.planetoid import read_planetoid
from regard.data.lines import read_lines
from regard.data.prepared import make_folder

_SEPARATOR = re.compile(r"[\s,]+")


def read_plain(options: GraphData) -> LabelledGraph:
    """Read the graph in the four files of a recipe; refuse inconsistencies by file and line."""
    edges, table, classes_of, split_of = options.files
    features = _read_features(table)
    looks = _read_looks(edges, features.nodes, options.directed)
    labels = _read_column(classes_of, features.nodes)
    splits = _read_column(split_of, features.nodes)
    for number, (split, label) in enumerate(zip(splits, labels, strict=True), 1):
        if split not in SPLITS:
            raise Fault(f"{split_of}, line {number}: '{split}' is not a split; write train, valid or test.")
        if split and not label:
            raise Fault(f"{classes_of}, line {number}: node {number - 1} is in the split '{split}' but has no label.")
    classes = sorted(set(labels) - {""})
    graph = LabelledGraph(
        features.normalise() if options.normalise else features,
        sort_looks(looks, features.nodes),
        np.array([classes.index(label) if label else UNKNOWN for label in labels]),
        np.array([SPLITS.index(split) for split in splits], dtype=np.int8),
        tuple(classes),
    )
    return check_graph(graph, options.name, classes_of, split_of)


def _read_features(name: str) -> Features:
    values: list[float] = []
    columns: list[int] = []
    starts, width = [0], 0
    for number, cells in _rows(name):
        row = [_number(cell, name, number) for cell in cells]
        if number == 1:
            width = len(row)
        if len(row) != width:
            raise Fault(
                f"{name}, line {number}: expected {quantity(width, 'feature')}, as in line 1, but found {len(row)}."
            )
        filled = [(column, value) for column, value in enumerate(row) if value]
        columns += [column for column, _ in filled]
        values += [value for _, value in filled]
        starts.append(len(values))
    if not width:
        raise Fault(f"{name} has no features; every node needs a line of numbers.")
    return Features(np.array(values, dtype=np.float32), np.array(columns, dtype=np.int64), np.array(starts), width)


def _read_looks(name: str, nodes: int, directed: bool) -> np.ndarray:
    """Read the edges: the second node sees the first and, unless `directed`, the first sees the second."""
    edges = [_edge(cells, name, number, nodes) for number, cells in _rows(name)]
    first, second = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    seen = np.stack([second, first])
    return seen if directed else np.concatenate([seen, seen[::-1]], axis=1)


def _edge(cells: list[str], name: str, number: int, nodes: int) -> tuple[int, int]:
    if len(cells) != 2 or not all(cell.isascii() and cell.isdigit() for cell in cells):
        raise Fault(f"{name}, line {number}: an edge must be the numbers of two nodes, such as '0 5'.")
    first, second = map(int, cells)
    for node in (first, second):
        if node >= nodes:
            raise Fault(f"{name}, line {number}: there is no node {node}; the features cover nodes 0 to {nodes - 1}.")
    return first, second


def _read_column(name: str, nodes: int) -> list[str]:
    """Read a file with one word for each node."""
    lines = [line.strip() for line in read_lines(file_of(name))]
    if len(lines) != nodes:
        raise Fault(f"{name} has {quantity(len(lines), 'line')} for {quantity(nodes, 'node')}; each node needs a line.")
    return lines


def _rows(name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a file with their numbers, split into cells."""
    for number, line in enumerate(read_lines(file_of(name)), 1):
        yield number, [cell for cell in _SEPARATOR.split(line.strip()) if cell]


def _number(cell: str, name: str, number: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise Fault(f"{name}, line {number}: '{cell[:40]}' is not a number.") from None
    if not np.isfinite(value) or abs(value) > float(np.finfo(np.float32).max):
        raise Fault(f"{name}, line {number}: '{cell[:40]}' is too large, or not a finite number.")
    return value


def read_graph(options: GraphData) -> LabelledGraph:
    """Read the graph that a recipe names."""
    return read_planetoid(options.graph, options.normalise) if options.graph else read_plain(options)


def is_prepared(folder: Path) -> bool:
    """Return True if a prepared graph is in the folder; the graph file is written last."""
    return (folder / GRAPH_FILE).is_file()


def prepare_graph(options: GraphData, folder: Path) -> LabelledGraph:
    """Prepare the graph of a recipe in `folder`, or open it if it is there."""
    if is_prepared(folder):
        return open_graph({name: (folder / name).read_bytes() for name in (CLASSES_FILE, GRAPH_FILE)}, str(folder))
    graph = read_graph(options)
    make_folder(folder)
    files = graph.files()
    for name in (CLASSES_FILE, GRAPH_FILE):
        write_file(folder / name, files[name])
    return graph
