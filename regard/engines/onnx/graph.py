"""Build ONNX graphs node by node; their weights are in one file next to them, each tensor once.

Matrices can be int8: every row is divided by its own scale and rounded. Their inputs are rounded too when the graph
runs, with one scale for all rows, so such a graph is for one sentence at a time. In 4 bits, matrices take half the
bytes, and the graph itself has the nodes that make int8 of them.
"""

from collections.abc import Sequence
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

OPSET, FORMAT = 17, 8  # the oldest with layer norm, for older runtimes
_PAGE = 4096  # runtimes memory-map files by pages
_LARGEST = 127  # signed int8
_WIDEST = 2**24 // (255 * _LARGEST)  # inputs of an int8 product whose sums a float32 holds exactly
_BLOCK, _HIGHEST = 32, 7  # weights that share a step in 4 bits, and the largest of them
_KINDS = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.uint8): TensorProto.UINT8,
}

Bits = Literal[4, 8, 32]  # of a weight in a matrix
Shape = list[int | str]  # a name stands for an axis whose length is known only at run time


class Store:
    """The file of weights that several graphs share."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name, self.end = file, name, 0
        self.places: dict[str, TensorProto] = {}

    def put(self, name: str, array: np.ndarray) -> TensorProto:
        """Return a reference to an array of this name; it is written the first time."""
        if name not in self.places:
            start = -(-self.end // _PAGE) * _PAGE
            self.file.write(b"\0" * (start - self.end))
            self.file.write(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).data)
            self.end = start + array.nbytes
            place = TensorProto(name=name, data_type=_KINDS[array.dtype], dims=array.shape)
            place.data_location = TensorProto.EXTERNAL
            for key, value in (("location", self.name), ("offset", str(start)), ("length", str(array.nbytes))):
                place.external_data.add(key=key, value=value)
            self.places[name] = place
        return self.places[name]


class Rounded(NamedTuple):
    """Int8 numbers, and the scale of each row or column."""

    whole: str
    scale: str


class OnnxGraph:
    """A graph under construction. Its tensors are known by name; in 8 or 4 bits, matrices are rounded."""

    def __init__(self, store: Store, bits: Bits = 32) -> None:
        self.store, self.bits, self.rounded = store, bits, bits < 32
        self._packed: dict[str, Rounded] = {}
        self._rounded_states: dict[str, list[str]] = {}
        self._renamed: dict[str, str] = {}
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.constants: dict[str, TensorProto] = {}

    def input(self, name: str, kind: int, shape: Shape) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, tensor: str, name: str, shape: Shape, kind: int = TensorProto.FLOAT) -> None:
        """Make a node's tensor an output under this name."""
        if tensor in self._renamed:
            tensor = self.op("Identity", tensor)
        self._renamed[tensor] = name
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output; return the output's name."""
        name = f"{kind}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str, tensor: Tensor) -> str:
        self.constants[name] = self.store.put(name, _floats(tensor))
        return name

    def rows_of(self, name: str, table: Tensor, numbers: str) -> str:
        """Return the rows of a table with these numbers."""
        if not self.rounded:
            return self.op("Gather", self.weight(name, table), numbers, axis=0)
        rows = self._rounded_weight(name, table)
        whole = self.op("Cast", self.op("Gather", rows.whole, numbers, axis=0), to=TensorProto.FLOAT)
        scale = self.op("Unsqueeze", self.op("Gather", rows.scale, numbers, axis=0), self.whole([-1]))
        return self.op("Mul", whole, scale)

    def product(self, states: str, name: str, matrix: Tensor, in_floats: bool = False) -> str:
        """Return states times the transpose of a matrix (out, in).

        With `in_floats`, the whole numbers of an int8 product are multiplied as floats, which gives the same sums. In
        WebAssembly on ARM this is faster for a few rows and a large matrix. A matrix too wide for it stays int8.
        """
        if not self.rounded:
            return self.op("MatMul", states, self.op("Transpose", self.weight(name, matrix), perm=[1, 0]))
        columns = self._rounded_weight(name, matrix)
        if states not in self._rounded_states:
            names = [f"{kind}.{len(self.nodes)}" for kind in ("whole", "scale", "zero")]
            self.nodes.append(helper.make_node("DynamicQuantizeLinear", [states], names))
            self._rounded_states[states] = names
        whole, scale, zero = self._rounded_states[states]
        table = self.op("Transpose", columns.whole, perm=[1, 0])
        if in_floats and matrix.shape[1] <= _WIDEST:
            numbers, middle, table = (self.op("Cast", part, to=TensorProto.FLOAT) for part in (whole, zero, table))
            product = self.op("MatMul", self.op("Sub", numbers, middle), table)
            return self.op("Mul", product, self.op("Mul", scale, columns.scale))
        product = self.op("MatMulInteger", whole, table, zero)
        # In this order runtimes recognise an int8 product and fuse it.
        return self.op("Mul", self.op("Cast", product, to=TensorProto.FLOAT), self.op("Mul", scale, columns.scale))

    def _rounded_weight(self, name: str, matrix: Tensor) -> Rounded:
        if self.bits == 4:
            return self._packed_weight(name, matrix)
        numbers = _floats(matrix)
        scale = np.maximum(np.abs(numbers).max(1), np.float32(1e-30)) / np.float32(_LARGEST)
        result = Rounded(f"{name}.whole", f"{name}.scale")
        for part, array in zip(result, (np.rint(numbers / scale[:, None]).astype(np.int8), scale), strict=True):
            self.constants[part] = self.store.put(part, array)
        return result

    def _packed_weight(self, name: str, matrix: Tensor) -> Rounded:
        """Store a matrix in 4 bits; runtimes unpack it to int8 when they load the graph, because it is constant.

        A byte has two weights, whole numbers up to 7. Blocks of 32 weights share a step, in units of the row's scale.
        """
        if name not in self._packed:
            packed, steps, scale = _pack(_floats(matrix))
            parts = {f"{name}.packed": packed, f"{name}.steps": steps, f"{name}.scale": scale}
            self.constants |= {part: self.store.put(part, array) for part, array in parts.items()}
            both = self.op("Cast", f"{name}.packed", to=TensorProto.FLOAT)
            high = self.op("Floor", self.op("Mul", both, self.number(1 / 16)))
            low = self.op("Sub", both, self.op("Mul", high, self.number(16.0)))
            halves = [self.op("Unsqueeze", half, self.whole([3])) for half in (low, high)]
            pairs = self.op("Sub", self.op("Concat", *halves, axis=3), self.number(8.0))
            step = self.op("Unsqueeze", self.op("Cast", f"{name}.steps", to=TensorProto.FLOAT), self.whole([2, 3]))
            whole = self.op("Cast", self.op("Round", self.op("Mul", pairs, step)), to=TensorProto.INT8)
            rows = self.op("Reshape", whole, self.whole([len(scale), -1]))
            bounds = (self.whole([0]), self.whole([matrix.shape[1]]), self.whole([1]))
            self._packed[name] = Rounded(self.op("Slice", rows, *bounds), f"{name}.scale")
        return self._packed[name]

    def split(self, tensor: str, sizes: Sequence[int]) -> list[str]:
        """Split a tensor along its last axis."""
        names = [f"part.{len(self.nodes)}.{number}" for number in range(len(sizes))]
        self.nodes.append(helper.make_node("Split", [tensor, self.whole([*sizes])], names, axis=-1))
        return names

    def linear_scan(self, factors: str, added: str, start: str, width: int) -> tuple[str, str]:
        """Return h_T and all h_t of h_t = factors_t · h_{t−1} + added_t along axis 1; `start` is h_0 (row, width)."""
        inside = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["row", width]) for name in ("h", "a", "b")]
        outside = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["row", width]) for name in ("next", "state")]
        nodes = [
            helper.make_node("Mul", ["a", "h"], ["kept"]),
            helper.make_node("Add", ["kept", "b"], ["next"]),
            helper.make_node("Identity", ["next"], ["state"]),
        ]
        body = helper.make_graph(nodes, "recurrence", inside, outside)
        names = [f"{kind}.{len(self.nodes)}" for kind in ("last", "states")]
        axes: dict[str, Any] = {"scan_input_axes": [1, 1], "scan_output_axes": [1]}
        inputs = [start, factors, added]
        self.nodes.append(helper.make_node("Scan", inputs, names, body=body, num_scan_inputs=2, **axes))
        return names[0], names[1]

    def best(self, scores: str, count: str) -> tuple[str, str]:
        """Return the `count` highest scores of each row, and their positions; `count` is a vector of one number."""
        names = [f"{kind}.{len(self.nodes)}" for kind in ("best", "tokens")]
        self.nodes.append(helper.make_node("TopK", [scores, count], names, axis=-1))
        return names[0], names[1]

    def whole(self, value: int | list[int]) -> str:
        """Return a constant of whole numbers."""
        return self._constant(np.array(value, dtype=np.int64))

    def number(self, value: float) -> str:
        return self._constant(np.array(value, dtype=np.float32))

    def _constant(self, array: np.ndarray) -> str:
        name = f"{array.dtype}.{array.tolist()}"
        self.constants[name] = numpy_helper.from_array(array, name)
        return name

    def size(self, tensor: str, axis: int) -> str:
        """Return the length of an axis."""
        return self.op("Gather", self.op("Shape", tensor), self.whole(axis), axis=0)

    def range(self, first: str, end: str) -> str:
        return self.op("Range", first, end, self.whole(1))

    def model(self, name: str, facts: dict[str, str]) -> Any:
        """Return the finished graph."""
        for node in self.nodes:
            for names in (node.input, node.output):
                names[:] = [self._renamed.get(tensor_name, tensor_name) for tensor_name in names]
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="regard")
        model.ir_version = FORMAT
        helper.set_model_props(model, facts)
        return model


def _pack(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a matrix in 4 bits: bytes (row, block, 16), steps (row, block) and the scale of each row."""
    blocks = np.pad(numbers, ((0, 0), (0, -numbers.shape[1] % _BLOCK))).reshape(len(numbers), -1, _BLOCK)
    highest = np.abs(blocks).max(2)
    scale = np.maximum(highest.max(1), np.float32(1e-30)) / np.float32(_LARGEST)
    steps = (highest / (_HIGHEST * scale[:, None])).astype(np.float16)
    exact = steps.astype(np.float32)[:, :, None] * scale[:, None, None]
    whole = np.rint(np.divide(blocks, exact, out=np.zeros_like(blocks), where=exact > 0)).clip(-_HIGHEST, _HIGHEST)
    whole = (whole + 8).astype(np.uint8)
    return whole[..., ::2] | whole[..., 1::2] << 4, steps, scale


def _floats(tensor: Tensor) -> np.ndarray:
    return tensor.detach().float().cpu().contiguous().numpy()
