"""A graph whose nodes have features and some have labels: checked once, stored in files of plain numbers."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from regard.base.faults import Fault
from regard.base.parsing import parse_json
from regard.base.tensors import read_shapes

GRAPH_FILE, CLASSES_FILE = "graph.safetensors", "classes.json"
SPLITS = ("", "train", "valid", "test")  # meaning of the numbers in `splits`
UNKNOWN = -1  # label of a node without one


@dataclass(frozen=True)
class Features:
    """A sparse table of features: row r holds the entries starts[r] up to starts[r + 1]."""

    values: np.ndarray  # float32
    columns: np.ndarray  # int64
    starts: np.ndarray  # int64
    width: int

    @property
    def nodes(self) -> int:
        return len(self.starts) - 1

    def normalise(self) -> "Features":
        """Divide every row by its sum; a row that sums to zero stays unchanged."""
        rows = np.repeat(np.arange(self.nodes), np.diff(self.starts))
        sums = np.bincount(rows, weights=self.values, minlength=self.nodes)
        sums[sums == 0] = 1.0
        return Features((self.values / sums[rows]).astype(np.float32), self.columns, self.starts, self.width)


@dataclass(frozen=True)
class LabelledGraph:
    """A graph with `looks` (2, edge): node looks[0, e] sees node looks[1, e]; sorted, distinct, never itself."""

    features: Features
    looks: np.ndarray
    labels: np.ndarray  # class number of each node, or UNKNOWN
    splits: np.ndarray  # index into SPLITS of each node
    classes: tuple[str, ...]

    @property
    def nodes(self) -> int:
        return len(self.labels)

    @property
    def edges(self) -> int:
        """Number of pairs of nodes with an edge, in one direction or both."""
        return np.unique(np.sort(self.looks, axis=0), axis=1).shape[1]

    def nodes_of(self, split: str) -> np.ndarray:
        """Return the nodes of a split, in order."""
        return np.flatnonzero(self.splits == SPLITS.index(split))

    @property
    def report(self) -> list[str]:
        """Description of the graph for people."""
        alone = self.nodes - len(np.unique(self.looks))
        sizes = ", ".join(f"{len(self.nodes_of(split)):,} {split}" for split in SPLITS[1:])
        return [
            f"{self.nodes:,} nodes, {self.edges:,} edges, {self.features.width:,} features,"
            f" {len(self.classes)} classes; {sizes}",
            *([f"nodes without an edge, which see only themselves: {alone:,}"] if alone else []),
        ]

    def files(self) -> dict[str, bytes]:
        """Return the graph as files."""
        tensors = {
            "values": self.features.values,
            "columns": self.features.columns.astype(np.int32),
            "starts": self.features.starts,
            "width": np.array([self.features.width]),
            "looks": self.looks.astype(np.int32),
            "labels": self.labels,
            "splits": self.splits,
        }
        contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
        return {GRAPH_FILE: save(contiguous), CLASSES_FILE: json.dumps(self.classes).encode()}


def sort_looks(looks: np.ndarray, nodes: int) -> np.ndarray:
    """Return the distinct looks in order, without those of a node at itself."""
    keys = np.unique(looks[0].astype(np.int64) * nodes + looks[1])
    both = np.stack([keys // nodes, keys % nodes])
    return both[:, both[0] != both[1]]


def check_graph(graph: LabelledGraph, name: str, labels: str = "", splits: str = "") -> LabelledGraph:
    """Refuse a graph that cannot be trained on; its labels and splits may be in files of their own."""
    if not graph.looks.shape[1]:
        raise Fault(f"{name}: the graph has no edges between two nodes, so there is nothing to attend to.")
    labelled = graph.labels[graph.labels != UNKNOWN]
    if len(np.unique(labelled)) < 2:
        problem = f"all have the class '{graph.classes[labelled[0]]}'" if len(labelled) else "no node has one"
        raise Fault(f"{labels or name}: at least two classes are needed, but {problem}.")
    for split in SPLITS[1:]:
        nodes = graph.nodes_of(split)
        if not len(nodes):
            raise Fault(f"{splits or name}: no node is in the split '{split}'.")
        if len(unlabelled := nodes[graph.labels[nodes] == UNKNOWN]):
            raise Fault(f"{name}: node {unlabelled[0]} is in the split '{split}' but has no label.")
    return graph


def open_graph(files: Mapping[str, bytes], name: str) -> LabelledGraph:
    """Read the graph from untrusted files; refuse inconsistent ones."""
    try:
        read_shapes(io.BytesIO(files[GRAPH_FILE]), GRAPH_FILE)
        tensors, classes = load(files[GRAPH_FILE]), parse_json(files[CLASSES_FILE], CLASSES_FILE)
        graph = _assemble(tensors, classes)
    except (KeyError, SafetensorError, ValueError, Fault) as error:
        raise Fault(f"{name}: {GRAPH_FILE} or {CLASSES_FILE} is missing or damaged ({error}).") from None
    return check_graph(graph, name)


def _assemble(tensors: dict[str, np.ndarray], classes: Any) -> LabelledGraph:
    """Build a graph from its tensors; raise ValueError if something does not fit."""
    if not isinstance(classes, list) or not all(isinstance(class_name, str) for class_name in classes):
        raise ValueError("classes that are not a list of names")
    (width,) = tensors["width"].tolist()
    starts, columns = tensors["starts"].astype(np.int64), tensors["columns"].astype(np.int64)
    features = Features(tensors["values"].astype(np.float32), columns, starts, int(width))
    looks, labels = tensors["looks"].astype(np.int64), tensors["labels"].astype(np.int64)
    nodes, splits = len(labels), tensors["splits"].astype(np.int8)
    fits = {
        "starts": starts.shape == (nodes + 1,) and starts[0] == 0 and starts[-1] == len(columns),
        "order of starts": bool((np.diff(starts) >= 0).all()),
        "values": features.values.shape == columns.shape == (len(columns),) and np.isfinite(features.values).all(),
        "columns": _within(columns, 0, features.width),
        "looks": looks.ndim == 2 and len(looks) == 2 and _within(looks, 0, nodes),
        "labels": labels.shape == (nodes,) and _within(labels, UNKNOWN, len(classes)),
        "splits": splits.shape == (nodes,) and _within(splits, 0, len(SPLITS)),
    }
    if wrong := [part for part, is_right in fits.items() if not is_right]:
        raise ValueError(f"{wrong[0]} that do not fit the rest")
    return LabelledGraph(features, sort_looks(looks, nodes), labels, splits, tuple(classes))


def _within(numbers: np.ndarray, least: int, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= least and numbers.max() < end)
