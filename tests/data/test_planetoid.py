"""Planetoid's pickles: a small graph by hand, and pickles that ask for more than allowed."""

from pathlib import Path

import numpy as np
import planetoid_files
import pytest
from planetoid_files import REST, array, matrix, neighbours, number, write_graph, write_pickle

from regard.base.faults import Fault
from regard.data.graphs import planetoid
from regard.data.graphs.labelled import UNKNOWN
from regard.data.graphs.planetoid import read_planetoid


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    monkeypatch.setattr(planetoid, "VALIDATION", planetoid_files.VALIDATION)
    write_graph(tmp_path)
    return tmp_path


def test_a_graph_on_paper() -> None:
    graph = read_planetoid("planetoid:cora", normalise=False)
    rows = [
        dict(zip(graph.features.columns[a:b].tolist(), graph.features.values[a:b].tolist(), strict=True))
        for a, b in zip(graph.features.starts[:-1], graph.features.starts[1:], strict=True)
    ]
    # Test rows are where its list says; node 5, of which nothing is known, has a row of zeros.
    assert rows == [{0: 1.0}, {1: 2.0, 2: 2.0}, {}, {0: 3.0, 2: 1.0}, {2: 4.0}, {}, {1: 5.0}]
    assert graph.labels.tolist() == [0, 1, 0, 1, 0, UNKNOWN, 1]
    assert [graph.nodes_of(split).tolist() for split in ("train", "valid", "test")] == [[0], [1, 2], [4, 6]]
    # Both directions once each, though 0-1 occurs three times, and without node 2's loop.
    assert graph.looks.T.tolist() == [[0, 1], [0, 6], [1, 0], [1, 2], [2, 1], [3, 4], [4, 3], [6, 0]]
    assert graph.classes == ("0", "1")
    assert graph.report[1] == "nodes without an edge, which see only themselves: 1"


def test_features_are_divided_by_their_sum() -> None:
    features = read_planetoid("planetoid:cora", normalise=True).features
    np.testing.assert_allclose(features.values, [1, 0.5, 0.5, 0.75, 0.25, 1, 1])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"cos\nsystem\n" + b"U\x04true\x85R", "it asks for os.system, which is not admitted"),
        (b"cbuiltins\neval\n" + b"U\x011\x85R", "it asks for builtins.eval, which is not admitted"),
        (b"cnumpy\nload\n" + b"U\x01x\x85R", "it asks for numpy.load, which is not admitted"),
        (array(np.zeros((2, 2), "<i4"), kind="O8"), "an array of something other than plain numbers"),
        (matrix(REST), "it holds something else"),
        (number(7), "it holds something else"),
        (array(np.zeros(4, "<i4")), "it is not a table"),
        (array(np.zeros((2, 2), "<i4"))[:-40], "not enough data in stream"),
    ],
)
def test_a_pickle_that_is_no_table_of_labels_is_refused(folder: Path, content: bytes, reason: str) -> None:
    write_pickle(folder, "cora.ally", content)
    with pytest.raises(Fault, match=f"ind.cora.ally is damaged, or not a Planetoid file: {reason}"):
        read_planetoid("planetoid:cora", normalise=True)


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        ("allx", matrix(REST).replace(array(np.array([0, 1, 3, 3, 5], "<i4")), array(np.array([0, 9, 3, 3, 5], "<i4"))),
         "its matrix does not fit together"),
        ("graph", neighbours({0: [-1]}), "it is not a table of neighbours"),
        ("graph", neighbours({}), "it is not a table of neighbours"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit_are_refused(folder: Path, kind: str, content: bytes, reason: str) -> None:
    write_pickle(folder, f"cora.{kind}", content)
    with pytest.raises(Fault, match=reason):
        read_planetoid("planetoid:cora", normalise=True)


def test_a_list_that_is_none_and_files_that_do_not_belong_together_are_refused(folder: Path) -> None:
    index = folder / "planetoid" / "ind.cora.test.index"
    index.write_text("4\nfour\n", encoding="ascii")
    with pytest.raises(Fault, match="it is not a list of numbers"):
        read_planetoid("planetoid:cora", normalise=True)
    index.write_text("4\n", encoding="ascii")
    with pytest.raises(Fault, match="its files do not fit together"):
        read_planetoid("planetoid:cora", normalise=True)


def test_a_file_that_is_far_too_large_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planetoid, "_LARGEST", 50)
    with pytest.raises(Fault, match="which is too much"):
        read_planetoid("planetoid:cora", normalise=True)


def test_a_graph_that_is_not_here_says_how_to_get_it(folder: Path) -> None:
    (folder / "planetoid" / "ind.cora.tx").unlink()
    with pytest.raises(Fault, match="`regard data get planetoid` brings it here"):
        read_planetoid("planetoid:cora", normalise=True)
