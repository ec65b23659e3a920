"""Graphs in plain files and in model folders: read by hand, and refused with a message for each fault."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.graphs.labelled import CLASSES_FILE, GRAPH_FILE, UNKNOWN, open_graph
from regard.data.graphs.options import GraphData
from regard.data.graphs.prepare import read_plain

CONTENTS = {
    "edges": "0 1\n1\t2\n2,3\n2 1\n3 3\n",
    "features": "1, 3\n0\t0\n2 2\n0.5 0\n",
    "labels": "cat\ndog\n\ncat\n",
    "split": "train\nvalid\n\ntest\n",
}


def written(folder: Path, directed: bool = False, normalise: bool = True, **changes: str) -> GraphData:
    """Write the files of a graph of four nodes with these changes. Return its options."""
    for name, content in {**CONTENTS, **changes}.items():
        (folder / name).write_text(content, encoding="utf-8")
    paths = {name: str(folder / name) for name in CONTENTS}
    return GraphData(**paths, directed=directed, normalise=normalise)


def test_a_graph_on_paper(tmp_path: Path) -> None:
    graph = read_plain(written(tmp_path))
    # An edge goes both ways and counts once however often it occurs; node 3's own edge does not make it see itself.
    assert graph.looks.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2]]
    assert graph.features.starts.tolist() == [0, 2, 2, 4, 5]
    assert graph.features.columns.tolist() == [0, 1, 0, 1, 0]
    assert graph.features.values.tolist() == [0.25, 0.75, 0.5, 0.5, 1.0]
    assert graph.labels.tolist() == [0, 1, UNKNOWN, 0]
    assert graph.classes == ("cat", "dog")
    assert [graph.nodes_of(split).tolist() for split in ("train", "valid", "test")] == [[0], [1], [3]]
    assert graph.report == ["4 nodes, 3 edges, 2 features, 2 classes; 1 train, 1 valid, 1 test"]


def test_with_directions_the_second_node_sees_the_first(tmp_path: Path) -> None:
    graph = read_plain(written(tmp_path, directed=True))
    assert graph.looks.T.tolist() == [[1, 0], [1, 2], [2, 1], [3, 2]]


def test_features_can_stay_as_they_are(tmp_path: Path) -> None:
    assert read_plain(written(tmp_path, normalise=False)).features.values.tolist() == [1.0, 3.0, 2.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edges": ""}, "the graph has no edges between two nodes, so there is nothing to attend to"),
        ({"edges": "1 1\n"}, "the graph has no edges between two nodes, so there is nothing to attend to"),
        ({"edges": "0 1\n0 4\n"}, "edges, line 2: there is no node 4; the features cover nodes 0 to 3"),
        ({"edges": "0 -1\n"}, "edges, line 1: an edge must be the numbers of two nodes, such as '0 5'"),
        ({"edges": "0 1\n\n"}, "edges, line 2: an edge must be the numbers of two nodes"),
        (
            {"features": "1 3\n0\n2 2\n5 0\n"},
            "features, line 2: expected 2 features, as in line 1, but found 1",
        ),
        ({"features": "1 x\n"}, "features, line 1: 'x' is not a number"),
        ({"features": "1 nan\n"}, "features, line 1: 'nan' is too large, or not a finite number"),
        ({"features": "1 1e308\n"}, "features, line 1: '1e308' is too large, or not a finite number"),
        ({"features": ""}, "features has no features; every node needs a line of numbers"),
        ({"labels": "cat\ndog\n"}, "labels has 2 lines for 4 nodes; each node needs a line"),
        ({"labels": "\ndog\n\ncat\n"}, "labels, line 1: node 0 is in the split 'train' but has no label"),
        ({"labels": "cat\ncat\n\ncat\n"}, "labels: at least two classes are needed, but all have the class 'cat'"),
        ({"labels": "\n\n\n\n", "split": "\n\n\n\n"}, "labels: at least two classes are needed, but no node has one"),
        ({"split": "train\ndev\n\ntest\n"}, "split, line 2: 'dev' is not a split; write train, valid or test"),
        ({"split": "train\n\n\ntest\n"}, "split: no node is in the split 'valid'"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    with pytest.raises(Fault, match=words):
        read_plain(written(tmp_path, **changes))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"edges": "e", "features": "f", "labels": "l"}, "'split' is missing"),
        ({}, "a graph needs either 'graph', or 'edges', 'features', 'labels' and 'split'"),
        (
            {"graph": "planetoid:cora", "edges": "e"},
            "'graph' names a whole graph, so omit 'edges'",
        ),
        ({"graph": "planetoid:pubmed"}, "expected one of 'planetoid:cora', 'planetoid:citeseer'"),
        ({"graph": "planetoid:cora", "directed": True}, "the catalogue's graphs have no directions"),
        ({"grpah": "planetoid:cora"}, "has no 'grpah'; did you mean 'graph'"),
    ],
)
def test_options_that_name_no_graph_are_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(GraphData, table)


def test_a_graph_in_files_is_the_same_graph(tmp_path: Path) -> None:
    graph = read_plain(written(tmp_path))
    again = open_graph(graph.files(), "it")
    for name in ("looks", "labels", "splits"):
        assert np.array_equal(getattr(again, name), getattr(graph, name))
    assert again.files() == graph.files()
    assert again.classes == graph.classes


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("starts", lambda starts: starts[::-1]),
        ("starts", lambda starts: starts[:-1]),
        ("columns", lambda columns: columns + 2),
        ("values", lambda values: values * np.inf),
        ("looks", lambda looks: looks + 1),
        ("looks", lambda looks: looks[0]),
        ("labels", lambda labels: labels + 1),
        ("splits", lambda splits: splits + 1),
        ("width", lambda width: np.concatenate([width, width])),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path: Path, name: str, change: object) -> None:
    files = read_plain(written(tmp_path)).files()
    tensors = load(files[GRAPH_FILE])
    tensors[name] = np.ascontiguousarray(change(tensors[name]))  # type: ignore[operator]
    with pytest.raises(Fault, match="is missing or damaged"):
        open_graph({**files, GRAPH_FILE: save(tensors)}, "it")


@pytest.mark.parametrize("change", [{GRAPH_FILE: b"no tensors"}, {CLASSES_FILE: b"{}"}, {CLASSES_FILE: b"["}])
def test_files_of_something_else_are_refused(tmp_path: Path, change: dict[str, bytes]) -> None:
    files = read_plain(written(tmp_path)).files()
    with pytest.raises(Fault, match="is missing or damaged"):
        open_graph(files | change, "it")
    with pytest.raises(Fault, match="is missing or damaged"):
        open_graph({}, "it")
