"""Products of ONNX graphs: int8 numbers multiplied as floats give the sums of whole numbers."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from onnx import TensorProto

from regard.engines.onnx.graph import OnnxGraph, Store
from regard.engines.onnx.sessions import open_graph, run_graph

WIDTHS = [(8, True), (517, True), (518, True), (519, False), (768, False)]  # the last two are too wide for floats


@pytest.mark.parametrize(("width", "is_in_floats"), WIDTHS)
def test_products_in_floats_are_those_of_whole_numbers(width: int, is_in_floats: bool, tmp_path: Path) -> None:
    """The sums are exact on every CPU, also where those of neighbours exceed 16 bits."""
    torch.manual_seed(width)
    matrix = torch.randn(40, width)
    matrix[0] = 1.0  # the largest sums: every number is 127, and those of the inputs below are 255
    states = torch.cat([torch.randn(3, width), torch.ones(1, width) * 9]).numpy()
    file = io.BytesIO()
    graph = OnnxGraph(Store(file, "weights"), bits=8)
    inputs = graph.input("states", TensorProto.FLOAT, ["row", width])
    for name, in_floats in (("whole", False), ("floats", True)):
        graph.output(graph.product(inputs, "matrix", matrix, in_floats), name, ["row", 40])
    model = graph.model("products", {})
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("MatMul") == is_in_floats
    (tmp_path / "graph.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "weights").write_bytes(file.getvalue())
    found = run_graph(open_graph(tmp_path / "graph.onnx"), {"states": states})
    whole, floats = found["whole"], found["floats"]
    np.testing.assert_array_equal(whole, floats)
    np.testing.assert_allclose(whole[:3, 1:], (states @ matrix.numpy().T)[:3, 1:], atol=0.1 * width**0.5)
