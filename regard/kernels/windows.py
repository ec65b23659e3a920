"""Write through one window and read through the next in one kernel: everything between two steps of DRAW.

    c' = c + γ_w⁻¹ F_Yᵀ w F_X            seen = γ_r F_Y [x, x − σ(c')] F_Xᵀ

with the filters of `regard.models.draw.filters`. One program handles a picture: everything it computes in between stays
in registers, and a step has one kernel, not dozens. Without windows the whole picture is written and seen.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

NUMBERS = tl.constexpr(5)  # numbers that describe a window, and their indices: g̃_X, g̃_Y, log σ², log δ̃ and log γ
ACROSS, DOWN, LOG_VARIANCE, LOG_DISTANCE, LOG_STRENGTH = (tl.constexpr(place) for place in range(5))
PIXELS = 256  # pixels of a program, without windows
Grids = tuple[int, int] | None  # filters per side of the reading window and of the writing window


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
    written,
    seen,
    read: tl.constexpr,
    write: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    longer: tl.constexpr,
    read_block: tl.constexpr,
    write_block: tl.constexpr,
    block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    said += row * (2 * NUMBERS + write * write)
    seen += row * (2 * read * read)
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
    seen_stride: tl.constexpr,
    read: tl.constexpr,
    write: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
    longer: tl.constexpr,
    read_block: tl.constexpr,
    write_block: tl.constexpr,
    block: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    said += row * (2 * NUMBERS + write * write)
    of_said += row * (2 * NUMBERS + write * write)
    of_seen += row * seen_stride
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
    tl.store(of_written + places, of_ink, inside)  # now of the canvas before this turn
    _store_gradient_of_writing(
        said, of_said, tl.where(inside, of_ink, 0.0), write, height, width, longer, write_block, block
    )


@triton.jit
def _whole_turn_kernel(
    said,
    canvas,
    pictures,
    written,
    seen,
    pixels: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
):
    """c' = c + w and seen = [x, x − σ(c')], the rows of the two pictures in turns."""
    pixel = tl.program_id(1) * block + tl.arange(0, block)
    place, inside = tl.program_id(0).to(tl.int64) * pixels + pixel, pixel < pixels
    ink = tl.load(canvas + place, inside, 0.0) + tl.load(said + place, inside, 0.0)
    drawn = tl.load(pictures + place, inside, 0.0)
    tl.store(written + place, ink, inside)
    seen += tl.program_id(0).to(tl.int64) * (2 * pixels) + pixel // width * (2 * width) + pixel % width
    tl.store(seen, drawn, inside)
    tl.store(seen + width, drawn - 1 / (1 + tl.exp(-ink)), inside)


@triton.jit
def _whole_turn_gradient_kernel(
    written,
    of_written,
    of_seen,
    of_said,
    seen_stride: tl.constexpr,
    pixels: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
):
    pixel = tl.program_id(1) * block + tl.arange(0, block)
    place, inside = tl.program_id(0).to(tl.int64) * pixels + pixel, pixel < pixels
    light = 1 / (1 + tl.exp(-tl.load(written + place, inside, 0.0)))
    of_seen += tl.program_id(0).to(tl.int64) * seen_stride + pixel // width * (2 * width) + width + pixel % width
    of_ink = tl.load(of_written + place, inside, 0.0) - light * (1 - light) * tl.load(of_seen, inside, 0.0)
    tl.store(of_written + place, of_ink, inside)  # now of the canvas before this turn
    tl.store(of_said + place, of_ink, inside)


def fits(grids: Grids, height: int, width: int) -> bool:
    """Return True if a GPU's multiprocessor has room for a picture of this size under every filter along one side."""
    if grids is None:
        return True
    sizes = _sizes(grids, height, width)
    room = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())["max_shared_mem"]
    return bool(4 * max(sizes["read_block"], sizes["write_block"]) * sizes["block"] ** 2 <= room)


def _sizes(grids: tuple[int, int], height: int, width: int) -> dict[str, int]:
    (read, write), block = grids, triton.next_power_of_2(max(height, width))
    return {
        "read": read,
        "write": write,
        "height": height,
        "width": width,
        "longer": max(height, width),
        "read_block": triton.next_power_of_2(read),
        "write_block": triton.next_power_of_2(write),
        "block": block,
        "num_warps": 4 if block <= 32 else 16,
    }


def turn(pictures: Tensor, canvas: Tensor, said: Tensor, grids: Grids, written: Tensor, seen: Tensor) -> None:
    """Store the canvas with the decoder's patch added in `written`, and what the next window sees in `seen`.

    `grids` holds the filters per side of the reading window and of the writing window; without windows it is None.
    """
    if grids is None:
        pixels, width = pictures[0].numel(), pictures.shape[2]
        whole = len(pictures), triton.cdiv(pixels, PIXELS)
        _whole_turn_kernel[whole](said, canvas, pictures, written, seen, pixels, width, PIXELS)
        return
    _turn_kernel[(len(said),)](said, canvas, pictures, written, seen, **_sizes(grids, *pictures.shape[1:]))


def turn_back(
    pictures: Tensor,
    written: Tensor,
    said: Tensor,
    grids: Grids,
    of_written: Tensor,
    of_seen: Tensor,
    of_said: Tensor,
) -> None:
    """Store the gradient of what the decoder said, and turn that of the canvas into that before the turn, in place.

    `of_seen` may be the first columns of a wider matrix.
    """
    if grids is None:
        pixels, width = pictures[0].numel(), pictures.shape[2]
        whole = len(pictures), triton.cdiv(pixels, PIXELS)
        _whole_turn_gradient_kernel[whole](
            written, of_written, of_seen, of_said, of_seen.stride(0), pixels, width, PIXELS
        )
        return
    sizes = _sizes(grids, *pictures.shape[1:])
    _turn_gradient_kernel[(len(said),)](
        said, written, pictures, of_written, of_seen, of_said, seen_stride=of_seen.stride(0), **sizes
    )
