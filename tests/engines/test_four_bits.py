"""Matrices stored in four bits: what their graphs compute, and how small they are."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto

from regard.cli import main
from regard.decoding.options import DecodingOptions
from regard.engines.onnx.engine import load_engine
from regard.engines.onnx.export import watched_graphs
from regard.engines.onnx.graph import OnnxGraph, Store
from regard.loading import Loaded, load_as


def matrix_and_session(width: int, folder: Path) -> tuple[np.ndarray, onnxruntime.InferenceSession]:
    """Return a matrix, and a graph that gives some of its rows and its product with states."""
    torch.manual_seed(3)
    matrix = torch.randn(5, width) * torch.tensor([1.0, 0.1, 3.0, 1e-3, 0.0])[:, None]
    file = io.BytesIO()
    graph = OnnxGraph(Store(file, "weights.data"), bits=4)
    numbers = graph.input("numbers", TensorProto.INT64, ["row"])
    states = graph.input("states", TensorProto.FLOAT, ["place", width])
    graph.output(graph.rows_of("matrix", matrix, numbers), "rows", ["row", width])
    graph.output(graph.product(states, "matrix", matrix), "product", ["place", 5])
    (folder / "graph.onnx").write_bytes(graph.model("test", {}).SerializeToString())
    (folder / "weights.data").write_bytes(file.getvalue())
    return matrix.numpy(), onnxruntime.InferenceSession(folder / "graph.onnx")


@pytest.mark.parametrize("width", [32, 64, 40])
def test_weights_are_rounded_by_blocks_and_then_to_int8(width: int, tmp_path: Path) -> None:
    matrix, session = matrix_and_session(width, tmp_path)
    states = np.random.default_rng(1).normal(size=(3, width)).astype(np.float32)
    rows, product = session.run(None, {"numbers": np.arange(5), "states": states})
    for row, found in zip(matrix, rows, strict=True):
        highest = np.abs(row).max()
        for start in range(0, width, 32):
            block = row[start : start + 32]
            step = np.abs(block).max() / 7
            error = np.abs(found[start : start + 32] - block).max()
            assert error <= 0.502 * step + 0.51 * highest / 127  # half a step of 4 bits, and half a step of 8
            assert len(np.unique(found[start : start + 32])) <= 15
    assert (rows[4] == 0).all()
    np.testing.assert_allclose(product, states @ rows.T, atol=0.02 * np.abs(states).max() * np.abs(rows).sum(1).max())


def test_four_bits_take_little_more_than_half_of_eight() -> None:
    sizes = []
    for bits in (8, 4):
        store = Store(io.BytesIO(), "weights.data")
        OnnxGraph(store, bits).product("states", "matrix", torch.randn(512, 512))
        sizes.append(store.end)
    assert 0.5 < sizes[1] / sizes[0] < 0.6


def test_a_translator_in_four_bits_is_close(trained: Path, tmp_path: Path) -> None:
    folder, scores = tmp_path / "run", []
    shutil.copytree(trained, folder)
    for kind in ("float32", "int8", "int4"):
        assert main(["export", str(folder), "--to", "onnx", "--quantisation", kind, "--overwrite"]) == 0
        ((best,),) = load_engine(folder, workers=1).translate(["I love books."], DecodingOptions(beam=1))
        scores.append(best.score)
    assert json.loads((folder / "onnx" / "export.json").read_text())["quantisation"] == "int4"
    assert scores[2] == pytest.approx(scores[0], rel=0.2)
    assert scores[2] != scores[1]


def test_a_page_can_have_four_bits(trained: Path) -> None:
    model = load_as(Loaded, trained, "cpu")
    small, usual = (watched_graphs(model, kind) for kind in ("int4", "int8"))
    assert small.keys() == usual.keys()
    assert small["weights.data"] != usual["weights.data"]
