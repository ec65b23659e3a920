"""Write through one window and read through the next in one kernel: everything between two steps of DRAW.

    c' = c + γ_w⁻¹ F_Yᵀ w F_X            seen = [γ_r F_Y [x, x − σ(c')] F_Xᵀ, h^dec, h^enc]

with the filters of `regard.models.draw.filters`; `regard.models.draw.pointwise.turn` is the same in plain torch. One
program handles a picture: everything it computes in between stays in registers, and a step has one kernel, not dozens.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

NUMBERS = tl.constexpr(5)  # numbers that describe a window, and their indices: g̃_X, g̃_Y, log σ², log δ̃ and log γ
ACROSS, DOWN, LOG_VARIANCE, LOG_DISTANCE, LOG_STRENGTH = (tl.constexpr(place) for place in range(5))


@triton.jit
def _pixels(row, height: tl.constexpr, width: tl.constexpr, block: tl.constexpr):
    """Return where the pixels of a picture lie (down, across), and which places of a square block are pixels."""
    down, across = tl.arange(0, block)[:, None], tl.arange(0, block)[None, :]
    return row * height * width + down * width + across, (down < height) & (across < width)


@triton.jit
def _filters(
    window, place, number, grid: tl.constexpr, pixels: tl.constexpr, longer: tl.constexpr, block: tl.constexpr
):
    """Return filters (filter, pixel) along one axis, the pixels' distances to them, 1/2σ² and δ; g̃ is at `place`."""
    centre = (pixels + 1) / 2 * (tl.load(window + place) + 1)
    precision = tl.exp(-tl.load(window + LOG_VARIANCE)) / 2
    distance = (longer - 1) / (grid - 1) * tl.exp(tl.load(window + LOG_DISTANCE))
    pixel = tl.arange(0, block)[None, :]
    far = pixel + 1 - (centre + (number[:, None] - (grid - 1) / 2) * distance)
    logits = tl.where(pixel < pixels, -far * far * precision, float("-inf"))
    weights = tl.exp(logits - tl.max(logits, 1)[:, None])
    return tl.where(number[:, None] < grid, weights / tl.sum(weights, 1)[:, None], 0.0), far, precision, distance


@triton.jit
def _gradient_of_means(filters, of_filters, far, precision):
    """Return ∂L/∂μ of each filter, and ∂L/∂log σ² through all of them; they are softmaxes of −(a − μ)² / 2σ²."""
    of_logits = filters * (of_filters - tl.sum(filters * of_filters, 1)[:, None])
    return tl.sum(2 * of_logits * far, 1) * precision, tl.sum(of_logits * far * far) * precision


@triton.jit
def _store_gradient(
    of_window,
    of_down,
    of_across,
    of_log_variance,
    of_log_strength,
    distance,
    number,
    grid: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
):
    """Store the gradients of a window's numbers, the first of them from those of the means down and across."""
    tl.store(of_window + ACROSS, (width + 1) / 2 * tl.sum(of_across))
    tl.store(of_window + DOWN, (height + 1) / 2 * tl.sum(of_down))
    tl.store(of_window + LOG_VARIANCE, of_log_variance)
    tl.store(of_window + LOG_DISTANCE, tl.sum((number - (grid - 1) / 2) * (of_down + of_across)) * distance)
    tl.store(of_window + LOG_STRENGTH, of_log_strength)


@triton.jit
def _turn_kernel(
    said,
    canvas,
    pictures,
    decoder,
    encoder,
    written,
    seen,
    read: tl.constexpr,
    write: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    longer: tl.constexpr,
    units: tl.constexpr,
    read_block: tl.constexpr,
    write_block: tl.constexpr,
    block: tl.constexpr,
    unit_block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    said += row * (2 * NUMBERS + write * write)
    seen += row * (2 * read * read + 2 * units)
    places, inside = _pixels(row, height, width, block)

    number, window = tl.arange(0, write_block), said + NUMBERS
    rows, _, _, _ = _filters(window, DOWN, number, write, height, longer, block)
    columns, _, _, _ = _filters(window, ACROSS, number, write, width, longer, block)
    i, j = number[:, None], number[None, :]
    patch = tl.load(said + 2 * NUMBERS + i * write + j, (i < write) & (j < write), 0.0)
    patch = patch * tl.exp(-tl.load(window + LOG_STRENGTH))
    lines = tl.sum(patch[:, :, None] * columns[None, :, :], 1)
    ink = tl.load(canvas + places, inside, 0.0) + tl.sum(rows[:, :, None] * lines[:, None, :], 0)
    tl.store(written + places, ink, inside)

    number = tl.arange(0, read_block)
    rows, _, _, _ = _filters(said, DOWN, number, read, height, longer, block)
    columns, _, _, _ = _filters(said, ACROSS, number, read, width, longer, block)
    strength = tl.exp(tl.load(said + LOG_STRENGTH))
    i, j = number[:, None], number[None, :]
    drawn = tl.load(pictures + places, inside, 0.0)
    for kind in tl.static_range(2):
        picture = drawn if kind == 0 else drawn - 1 / (1 + tl.exp(-ink))
        lines = tl.sum(rows[:, :, None] * picture[None, :, :], 1)
        found = strength * tl.sum(lines[:, None, :] * columns[None, :, :], 2)
        tl.store(seen + i * 2 * read + kind * read + j, found, (i < read) & (j < read))

    unit = tl.arange(0, unit_block)
    known = unit < units
    seen += 2 * read * read
    tl.store(seen + unit, tl.load(decoder + row * units + unit, known, 0.0), known)
    tl.store(seen + units + unit, tl.load(encoder + row * units + unit, known, 0.0), known)


@triton.jit
def _store_gradient_of_writing(
    said,
    of_said,
    of_ink,
    write: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    longer: tl.constexpr,
    write_block: tl.constexpr,
    block: tl.constexpr,
):
    """Store the gradients of the writing window and of the patch, from that of the canvas."""
    number, window = tl.arange(0, write_block), said + NUMBERS
    rows, far_down, precision, distance = _filters(window, DOWN, number, write, height, longer, block)
    columns, far_across, _, _ = _filters(window, ACROSS, number, write, width, longer, block)
    weakness = tl.exp(-tl.load(window + LOG_STRENGTH))
    i, j = number[:, None], number[None, :]
    known = (i < write) & (j < write)
    patch = tl.load(said + 2 * NUMBERS + i * write + j, known, 0.0) * weakness
    lines = tl.sum(patch[:, :, None] * columns[None, :, :], 1)
    of_rows = tl.sum(of_ink[None, :, :] * lines[:, None, :], 2)
    of_lines = tl.sum(rows[:, :, None] * of_ink[None, :, :], 1)
    of_patch = tl.sum(of_lines[:, None, :] * columns[None, :, :], 2)
    of_columns = tl.sum(patch[:, :, None] * of_lines[:, None, :], 0)
    of_strength = -tl.sum(patch * of_patch)
    of_down, by_rows = _gradient_of_means(rows, of_rows, far_down, precision)
    of_across, by_columns = _gradient_of_means(columns, of_columns, far_across, precision)
    of_said += NUMBERS
    _store_gradient(
        of_said, of_down, of_across, by_rows + by_columns, of_strength, distance, number, write, height, width
    )
    tl.store(of_said + NUMBERS + i * write + j, of_patch * weakness, known)


@triton.jit
def _turn_gradient_kernel(
    said,
    written,
    pictures,
    of_written,
    of_seen,
    of_said,
    of_canvas,
    read: tl.constexpr,
    write: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    longer: tl.constexpr,
    units: tl.constexpr,
    read_block: tl.constexpr,
    write_block: tl.constexpr,
    block: tl.constexpr,
    unit_block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    said += row * (2 * NUMBERS + write * write)
    of_said += row * (2 * NUMBERS + write * write)
    of_seen += row * (2 * read * read + 2 * units)
    places, inside = _pixels(row, height, width, block)

    number = tl.arange(0, read_block)
    rows, far_down, precision, distance = _filters(said, DOWN, number, read, height, longer, block)
    columns, far_across, _, _ = _filters(said, ACROSS, number, read, width, longer, block)
    strength = tl.exp(tl.load(said + LOG_STRENGTH))
    i, j = number[:, None], number[None, :]
    drawn = tl.load(pictures + places, inside, 0.0)
    light = 1 / (1 + tl.exp(-tl.load(written + places, inside, 0.0)))
    of_ink = tl.load(of_written + places, inside, 0.0)
    of_rows, of_columns = tl.zeros_like(rows), tl.zeros_like(columns)
    for kind in tl.static_range(2):
        picture = drawn if kind == 0 else tl.where(inside, drawn - light, 0.0)
        of_found = tl.load(of_seen + i * 2 * read + kind * read + j, (i < read) & (j < read), 0.0) * strength
        of_lines = tl.sum(of_found[:, :, None] * columns[None, :, :], 1)
        of_rows += tl.sum(of_lines[:, None, :] * picture[None, :, :], 2)
        lines = tl.sum(rows[:, :, None] * picture[None, :, :], 1)
        of_columns += tl.sum(of_found[:, :, None] * lines[:, None, :], 0)
        if kind == 1:
            of_ink -= light * (1 - light) * tl.sum(rows[:, :, None] * of_lines[:, None, :], 0)
    of_strength = tl.sum(columns * of_columns)
    of_down, by_rows = _gradient_of_means(rows, of_rows, far_down, precision)
    of_across, by_columns = _gradient_of_means(columns, of_columns, far_across, precision)
    _store_gradient(
        of_said, of_down, of_across, by_rows + by_columns, of_strength, distance, number, read, height, width
    )
    tl.store(of_canvas + places, of_ink, inside)
    _store_gradient_of_writing(
        said, of_said, tl.where(inside, of_ink, 0.0), write, height, width, longer, write_block, block
    )


def fits(grids: tuple[int, int], height: int, width: int) -> bool:
    """Return True if a GPU's multiprocessor has room for a picture of this size under every filter along one side."""
    sizes = _sizes(grids, height, width, 1)
    room = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())["max_shared_mem"]
    return bool(4 * max(sizes["read_block"], sizes["write_block"]) * sizes["block"] ** 2 <= room)


def _sizes(grids: tuple[int, int], height: int, width: int, units: int) -> dict[str, int]:
    (read, write), block = grids, triton.next_power_of_2(max(height, width))
    return {
        "read": read,
        "write": write,
        "height": height,
        "width": width,
        "longer": max(height, width),
        "units": units,
        "read_block": triton.next_power_of_2(read),
        "write_block": triton.next_power_of_2(write),
        "block": block,
        "unit_block": triton.next_power_of_2(units),
        "num_warps": 4 if block <= 32 else 16,
    }


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        pictures: Tensor,
        canvas: Tensor,
        said: Tensor,
        decoder: Tensor,
        encoder: Tensor,
        grids: tuple[int, int],
    ) -> tuple[Tensor, Tensor]:
        rows, height, width = pictures.shape
        units = decoder.shape[1]
        ctx.sizes = _sizes(grids, height, width, units)
        inputs = [tensor.contiguous() for tensor in (said, canvas, pictures, decoder, encoder)]
        written, seen = torch.empty_like(inputs[1]), said.new_empty(rows, 2 * grids[0] ** 2 + 2 * units)
        _turn_kernel[(rows,)](*inputs, written, seen, **ctx.sizes)
        ctx.save_for_backward(inputs[0], written, inputs[2])
        return written, seen

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        of_written, of_seen = (gradient.contiguous() for gradient in upstream)
        said, written, pictures = ctx.saved_tensors
        of_said, of_canvas = torch.empty_like(said), torch.empty_like(written)
        _turn_gradient_kernel[(len(said),)](
            said, written, pictures, of_written, of_seen, of_said, of_canvas, **ctx.sizes
        )
        units = ctx.sizes["units"]
        return None, of_canvas, of_said, of_seen[:, -2 * units : -units], of_seen[:, -units:], None


def turn(
    pictures: Tensor, canvas: Tensor, said: Tensor, decoder: Tensor, encoder: Tensor, grids: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Return the canvas with the decoder's patch added, and the encoder's next input; pictures have no gradient.

    `grids` holds the filters per side of the reading window and of the writing window.
    """
    written, seen = _Turn.apply(pictures, canvas, said, decoder, encoder, grids)
    return written, seen
