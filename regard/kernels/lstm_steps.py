"""One step of an LSTM in one kernel, forward and backward: its matrix product with everything that follows from it.

    [i f g o] = W [x_1; x_2; x_3] + b        c' = σ(f) c + σ(i) tanh(g)        h' = σ(o) tanh(c')

The input may lie in up to three tensors side by side, so nothing is copied together. Batches of recurrent networks are
small, so launching kernels is most of the cost of a step. A program computes some rows and some units, with all four
gates of each; the gates' values are stored for the way back. For products in TF32 the weights are already rounded
(`regard.kernels.tensor_float`).
"""

from collections.abc import Sequence

import triton
import triton.language as tl
from torch import Tensor

from regard.kernels import tensor_float

HALF, KEPT = tl.constexpr(tensor_float.HALF), tl.constexpr(tensor_float.KEPT)
ROWS, COLUMNS, DEPTH = 32, 16, 64  # of the tiles that a program multiplies
WIDE_COLUMNS = 32  # of the tiles of a product alone


@triton.jit
def sigmoid(numbers):
    return 1 / (1 + tl.exp(-numbers))


@triton.jit
def tanh(numbers):
    return 2 * sigmoid(2 * numbers) - 1


@triton.jit
def places(count, block: tl.constexpr, axis: tl.constexpr):
    """Return the indices of this program's block along an axis of the grid, and which of them exist."""
    index = tl.program_id(axis) * block + tl.arange(0, block)
    return index, index < count


@triton.jit
def multiply_add(numbers, weights, sums, precision: tl.constexpr):
    """Return sums + numbers @ weights; the numbers are rounded where the product, in TF32, would cut off their bits."""
    if precision == "tf32":
        bits = numbers.to(tl.int32, bitcast=True)
        rounded = ((bits + HALF) & KEPT).to(tl.float32, bitcast=True)
        numbers = tl.where(numbers == numbers, rounded, numbers)  # not a number stays so
    return tl.dot(numbers, weights, sums, input_precision=precision, out_dtype=sums.dtype)


@triton.jit
def add_product(
    sums,
    inputs,
    weights,
    row,
    is_row,
    column,
    is_column,
    size: tl.constexpr,
    input_stride: tl.constexpr,
    depth_stride: tl.constexpr,
    column_stride: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    """Return sums + inputs @ weights, of `size` inputs; an element of the weights lies at both strides."""
    for start in range(0, size, depth):
        place = start + tl.arange(0, depth)
        known = is_row[:, None] & (place < size)[None, :]
        tile = tl.load(inputs + row[:, None] * input_stride + place[None, :], known, 0.0)
        known = (place < size)[:, None] & is_column[None, :]
        there = tl.load(weights + place[:, None] * depth_stride + column[None, :] * column_stride, known, 0.0)
        sums = multiply_add(tile, there, sums, precision)
    return sums


@triton.jit
def _step_kernel(
    first,
    second,
    third,
    weights,
    biases,
    cell,
    new_cell,
    shown,
    gates,
    rows,
    first_size: tl.constexpr,
    second_size: tl.constexpr,
    third_size: tl.constexpr,
    units: tl.constexpr,
    row_block: tl.constexpr,
    unit_block: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    row, is_row = places(rows, row_block, 0)
    unit, is_unit = places(units, unit_block, 1)
    row = row.to(tl.int64)
    # The tile has the program's units once for each gate, i, f, g and o.
    column = tl.arange(0, 4 * unit_block)
    in_gate = tl.program_id(1) * unit_block + column % unit_block
    is_column, column = in_gate < units, column // unit_block * units + in_gate
    size: tl.constexpr = first_size + second_size + third_size
    sums = tl.zeros([row_block, 4 * unit_block], dtype=weights.dtype.element_ty)
    sums = add_product(
        sums, first, weights, row, is_row, column, is_column, first_size, first_size, 1, size, depth, precision
    )
    weights += first_size
    sums = add_product(
        sums, second, weights, row, is_row, column, is_column, second_size, second_size, 1, size, depth, precision
    )
    weights += second_size
    sums = add_product(
        sums, third, weights, row, is_row, column, is_column, third_size, third_size, 1, size, depth, precision
    )
    sums += tl.load(biases + column, is_column, 0.0)[None, :]
    pairs = tl.permute(tl.reshape(sums, [row_block, 2, 2, unit_block]), [0, 3, 1, 2])
    enter_and_candidate, keep_and_show = tl.split(pairs)
    enter, candidate = tl.split(enter_and_candidate)
    keep, show = tl.split(keep_and_show)
    enter, keep, candidate, show = sigmoid(enter), sigmoid(keep), tanh(candidate), sigmoid(show)

    known = is_row[:, None] & is_unit[None, :]
    place = row[:, None] * units + unit[None, :]
    remembered = keep * tl.load(cell + place, known, 0.0) + enter * candidate
    tl.store(new_cell + place, remembered, known)
    tl.store(shown + place, show * tanh(remembered), known)
    place = row[:, None] * (4 * units) + unit[None, :]
    tl.store(gates + place, enter, known)
    tl.store(gates + units + place, keep, known)
    tl.store(gates + 2 * units + place, candidate, known)
    tl.store(gates + 3 * units + place, show, known)


@triton.jit
def store_gates_gradient(
    of_shown, gates, cell, new_cell, of_cell, of_gates, row, is_row, unit, is_unit, units: tl.constexpr
):
    """Store the gradient of the four sums, and turn that of the cell into that before the step, in place."""
    known = is_row[:, None] & is_unit[None, :]
    place = row[:, None].to(tl.int64) * units + unit[None, :]
    at = row[:, None].to(tl.int64) * (4 * units) + unit[None, :]
    enter, keep = tl.load(gates + at, known, 0.0), tl.load(gates + units + at, known, 0.0)
    candidate, show = tl.load(gates + 2 * units + at, known, 0.0), tl.load(gates + 3 * units + at, known, 0.0)
    remembered = tanh(tl.load(new_cell + place, known, 0.0))
    of_new = tl.load(of_cell + place, known, 0.0) + of_shown * show * (1 - remembered * remembered)
    tl.store(of_cell + place, of_new * keep, known)
    tl.store(of_gates + at, of_new * candidate * enter * (1 - enter), known)
    of_keep = of_new * tl.load(cell + place, known, 0.0) * keep * (1 - keep)
    tl.store(of_gates + units + at, of_keep, known)
    tl.store(of_gates + 2 * units + at, of_new * enter * (1 - candidate * candidate), known)
    tl.store(of_gates + 3 * units + at, of_shown * remembered * show * (1 - show), known)


@triton.jit
def _product_kernel(
    inputs,
    weights,
    outputs,
    rows,
    size: tl.constexpr,
    columns: tl.constexpr,
    depth_stride: tl.constexpr,
    column_stride: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
    biases=None,
):
    row, is_row = places(rows, row_block, 0)
    column, is_column = places(columns, column_block, 1)
    sums = tl.zeros([row_block, column_block], dtype=weights.dtype.element_ty)
    row = row.to(tl.int64)
    sums = add_product(
        sums, inputs, weights, row, is_row, column, is_column, size, size, depth_stride, column_stride, depth, precision
    )
    if biases is not None:
        sums += tl.load(biases + column, is_column, 0.0)[None, :]
    tl.store(outputs + row[:, None] * columns + column[None, :], sums, is_row[:, None] & is_column[None, :])


def grid(rows: int, columns: int, column_block: int = COLUMNS) -> tuple[int, int]:
    """Return the grid of programs whose tiles cover a matrix."""
    return triton.cdiv(rows, ROWS), triton.cdiv(columns, column_block)


def tiles(in_tf32: bool, columns: int = COLUMNS, depth: int = DEPTH) -> tuple[int, int, int, str]:
    """Return the last arguments of a kernel: the sizes of its tiles, and the precision of its products."""
    return ROWS, columns, depth, "tf32" if in_tf32 else "ieee"


def step(
    inputs: Sequence[Tensor],
    weights: Tensor,
    biases: Tensor,
    cell: Tensor,
    outputs: tuple[Tensor, Tensor, Tensor],
    in_tf32: bool,
) -> None:
    """Take a step with the joined `inputs`, and store the `outputs`: the new cell, what is shown, and the gates."""
    (rows, units), sizes = cell.shape, [tensor.shape[1] for tensor in inputs]
    three = [*inputs, *[inputs[0]] * (3 - len(inputs))]
    _step_kernel[grid(rows, units)](
        *three,
        weights,
        biases,
        cell,
        *outputs,
        rows,
        *[*sizes, *[0] * (3 - len(sizes))],
        units,
        *tiles(in_tf32),
    )


def linear(inputs: Tensor, weights: Tensor, biases: Tensor, outputs: Tensor, in_tf32: bool) -> None:
    """Store W x + b for each row."""
    rows, columns = outputs.shape
    size = inputs.shape[1]
    _product_kernel[grid(rows, columns)](
        inputs, weights, outputs, rows, size, columns, 1, size, *tiles(in_tf32), biases
    )


def product(inputs: Tensor, weights: Tensor, outputs: Tensor, in_tf32: bool) -> None:
    """Store the product of two matrices."""
    rows, columns = outputs.shape
    _product_kernel[grid(rows, columns, WIDE_COLUMNS)](
        inputs,
        weights,
        outputs,
        rows,
        inputs.shape[1],
        columns,
        columns,
        1,
        *tiles(in_tf32, WIDE_COLUMNS),
    )
