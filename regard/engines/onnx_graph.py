"""ONNX graphs put together node by node; their weights lie in one file beside them, each tensor once."""

from typing import Any, BinaryIO

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

OPSET, FORMAT = 17, 8  # the oldest that know a layer norm, so that older runtimes can read what is written
_PAGE = 4096  # runtimes map a file into memory by pages

Shape = list[int | str]  # a name for an axis whose length is known only when the graph runs


class Store:
    """The file of weights that several graphs share."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name, self.end = file, name, 0
        self.places: dict[str, TensorProto] = {}

    def put(self, name: str, tensor: Tensor) -> TensorProto:
        """A reference to a tensor of this name, which is written the first time."""
        if name not in self.places:
            array = tensor.detach().float().cpu().contiguous().numpy().astype("<f4", copy=False)
            start = -(-self.end // _PAGE) * _PAGE
            self.file.write(b"\0" * (start - self.end))
            self.file.write(array.data)
            self.end = start + array.nbytes
            place = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=array.shape)
            place.data_location = TensorProto.EXTERNAL
            for key, value in (("location", self.name), ("offset", str(start)), ("length", str(array.nbytes))):
                place.external_data.add(key=key, value=value)
            self.places[name] = place
        return self.places[name]


class Graph:
    """A graph under construction. Tensors in it are known by their names."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.constants: dict[str, TensorProto] = {}

    def input(self, name: str, kind: int, shape: Shape) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, tensor: str, name: str, shape: Shape) -> None:
        """Hand a tensor of numbers out under a name of its own."""
        self.nodes.append(helper.make_node("Identity", [tensor], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output, whose name is returned."""
        name = f"{kind}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str, tensor: Tensor) -> str:
        self.constants[name] = self.store.put(name, tensor)
        return name

    def whole(self, value: int | list[int]) -> str:
        """A constant of whole numbers."""
        return self._constant(np.array(value, dtype=np.int64))

    def number(self, value: float) -> str:
        return self._constant(np.array(value, dtype=np.float32))

    def _constant(self, array: np.ndarray) -> str:
        name = f"{array.dtype}.{array.tolist()}"
        self.constants[name] = numpy_helper.from_array(array, name)
        return name

    def size(self, tensor: str, axis: int) -> str:
        """How long an axis is."""
        return self.op("Gather", self.op("Shape", tensor), self.whole(axis), axis=0)

    def range(self, first: str, end: str) -> str:
        return self.op("Range", first, end, self.whole(1))

    def model(self, name: str, facts: dict[str, str]) -> Any:
        """The finished graph."""
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="regard")
        model.ir_version = FORMAT
        helper.set_model_props(model, facts)
        return model
