"""The loop of DRAW over its steps, forward and backward, in a few kernels a step.

Forward, a step has five kernels: the encoder's LSTM, the latents, the decoder's LSTM, what the decoder says, and the
turn from one window to the next. Backward it has five as well, and the weights get their gradients from products over
all steps at once. `regard.models.draw.network` is the same in plain torch.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.kernels import lstm_steps, windows
from regard.kernels.lstm_steps import add_product, grid, multiply_add, places, store_gates_gradient, tiles
from regard.kernels.tensor_float import products_in_tf32, rounded_to_tf32

SHALLOW = 32  # depth of tiles that are computed, not loaded, so that a program's registers hold them


class Layers(NamedTuple):
    """Weights and biases of DRAW's four linear layers."""

    encode: Tensor
    encode_bias: Tensor
    infer: Tensor
    infer_bias: Tensor
    decode: Tensor
    decode_bias: Tensor
    say: Tensor
    say_bias: Tensor


class Loop(NamedTuple):
    """Everything a loop computes, by step; what enters the first step is one step longer."""

    seen: Tensor
    canvases: Tensor
    encoder: Tensor
    encoder_cells: Tensor
    encoder_gates: Tensor
    posteriors: Tensor
    latents: Tensor
    decoder: Tensor
    decoder_cells: Tensor
    decoder_gates: Tensor
    said: Tensor


@triton.jit
def _latents_kernel(
    encoder,
    weights,
    biases,
    noise,
    posterior,
    latents,
    rows,
    noise_stride,
    units: tl.constexpr,
    latent: tl.constexpr,
    row_block: tl.constexpr,
    latent_block: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    """μ and log σ of the posterior, and z = μ + σ ε."""
    row, is_row = places(rows, row_block, 0)
    column, is_column = places(latent, latent_block, 1)
    row, known = row.to(tl.int64), is_row[:, None] & is_column[None, :]
    mean = tl.zeros([row_block, latent_block], dtype=weights.dtype.element_ty)
    log_deviation = mean
    mean = add_product(mean, encoder, weights, row, is_row, column, is_column, units, units, 1, units, depth, precision)
    log_deviation = add_product(
        log_deviation,
        encoder,
        weights + latent * units,
        row,
        is_row,
        column,
        is_column,
        units,
        units,
        1,
        units,
        depth,
        precision,
    )
    mean += tl.load(biases + column, is_column, 0.0)[None, :]
    log_deviation += tl.load(biases + latent + column, is_column, 0.0)[None, :]
    chance = tl.load(noise + row[:, None] * noise_stride + column[None, :], known, 0.0)
    place = row[:, None] * (2 * latent) + column[None, :]
    tl.store(posterior + place, mean, known)
    tl.store(posterior + latent + place, log_deviation, known)
    tl.store(latents + row[:, None] * latent + column[None, :], mean + tl.exp(log_deviation) * chance, known)


@triton.jit
def _decoder_gradient_kernel(
    of_said,
    say,
    of_next_decode,
    of_next_encode,
    gates,
    cell,
    new_cell,
    of_cell,
    of_gates,
    rows,
    said: tl.constexpr,
    decode_stride: tl.constexpr,
    encode_stride: tl.constexpr,
    units: tl.constexpr,
    row_block: tl.constexpr,
    unit_block: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    """The decoder's output is what it says from, and an input of both LSTMs in the next step."""
    row, is_row = places(rows, row_block, 0)
    unit, is_unit = places(units, unit_block, 1)
    row, known = row.to(tl.int64), is_row[:, None] & is_unit[None, :]
    of_shown = tl.load(of_next_decode + row[:, None] * decode_stride + unit[None, :], known, 0.0)
    of_shown += tl.load(of_next_encode + row[:, None] * encode_stride + unit[None, :], known, 0.0)
    of_shown = add_product(of_shown, of_said, say, row, is_row, unit, is_unit, said, said, units, 1, depth, precision)
    store_gates_gradient(of_shown, gates, cell, new_cell, of_cell, of_gates, row, is_row, unit, is_unit, units)


@triton.jit
def _encoder_gradient_kernel(
    of_decode,
    of_bound,
    posterior,
    latents,
    infer,
    of_posterior,
    of_next_encode,
    gates,
    cell,
    new_cell,
    of_cell,
    of_gates,
    rows,
    decode_stride: tl.constexpr,
    encode_stride: tl.constexpr,
    latent: tl.constexpr,
    units: tl.constexpr,
    row_block: tl.constexpr,
    unit_block: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    """The encoder's output is what the posterior comes from, and an input of the encoder in the next step.

    ∂L/∂μ = ∂L/∂z and ∂L/∂log σ = ∂L/∂z σ ε, each with what the bound adds. One program of each row stores them.
    """
    row, is_row = places(rows, row_block, 0)
    unit, is_unit = places(units, unit_block, 1)
    row, known = row.to(tl.int64), is_row[:, None] & is_unit[None, :]
    of_shown = tl.load(of_next_encode + row[:, None] * encode_stride + unit[None, :], known, 0.0)
    for start in range(0, latent, depth):
        place = start + tl.arange(0, depth)
        exists = is_row[:, None] & (place < latent)[None, :]
        of_latents = tl.load(of_decode + row[:, None] * decode_stride + place[None, :], exists, 0.0)
        at = row[:, None] * (2 * latent) + place[None, :]
        deviation = tl.load(latents + row[:, None] * latent + place[None, :], exists, 0.0)
        deviation -= tl.load(posterior + at, exists, 0.0)
        of_mean = of_latents + tl.load(of_bound + at, exists, 0.0)
        of_log = of_latents * deviation + tl.load(of_bound + latent + at, exists, 0.0)
        if tl.program_id(1) == 0:
            tl.store(of_posterior + at, of_mean, exists)
            tl.store(of_posterior + latent + at, of_log, exists)
        exists = (place < latent)[:, None] & is_unit[None, :]
        there = infer + place[:, None] * units + unit[None, :]
        of_shown = multiply_add(of_mean, tl.load(there, exists, 0.0), of_shown, precision)
        there += latent * units
        of_shown = multiply_add(of_log, tl.load(there, exists, 0.0), of_shown, precision)
    store_gates_gradient(of_shown, gates, cell, new_cell, of_cell, of_gates, row, is_row, unit, is_unit, units)


class Gradients(NamedTuple):
    """Gradients on the way back: of the parts of a loop at all steps, and what one step passes to the one before."""

    said: Tensor
    posteriors: Tensor
    encoder_gates: Tensor
    decoder_gates: Tensor
    canvas: Tensor
    encoder_cell: Tensor
    decoder_cell: Tensor
    encode: Tensor  # of the encoder's input, in the step after
    decode: Tensor


def _begin_loop(noise: Tensor, canvas: Tensor, seen: Tensor, decoder: Tensor, encoder: Tensor, said: int) -> Loop:
    (rows, steps, latent), units = noise.shape, decoder.shape[1]

    def of_steps(count: int, *shape: int) -> Tensor:
        return canvas.new_empty(count, rows, *shape)

    loop = Loop(
        seen=of_steps(steps + 1, seen.shape[1]),
        canvases=of_steps(steps + 1, *canvas.shape[1:]),
        encoder=of_steps(steps + 1, units),
        encoder_cells=of_steps(steps + 1, units),
        encoder_gates=of_steps(steps, 4 * units),
        posteriors=of_steps(steps, 2 * latent),
        latents=of_steps(steps, latent),
        decoder=of_steps(steps + 1, units),
        decoder_cells=of_steps(steps + 1, units),
        decoder_gates=of_steps(steps, 4 * units),
        said=of_steps(steps, said),
    )
    loop.seen[0], loop.canvases[0], loop.decoder[0], loop.encoder[0] = seen, canvas, decoder, encoder
    loop.encoder_cells[0].zero_(), loop.decoder_cells[0].zero_()
    return loop


def _take_step(loop: Loop, layers: Layers, noise: Tensor, now: int, in_tf32: bool) -> None:
    """Store everything of a step up to what the decoder says."""
    after, (rows, latent), units = now + 1, loop.latents[now].shape, loop.encoder.shape[2]
    lstm_steps.step(
        [loop.seen[now], loop.decoder[now], loop.encoder[now]],
        layers.encode,
        layers.encode_bias,
        loop.encoder_cells[now],
        (loop.encoder_cells[after], loop.encoder[after], loop.encoder_gates[now]),
        in_tf32,
    )
    _latents_kernel[grid(rows, latent)](
        loop.encoder[after],
        layers.infer,
        layers.infer_bias,
        noise[:, now],
        loop.posteriors[now],
        loop.latents[now],
        rows,
        noise.stride(0),
        units,
        latent,
        *tiles(in_tf32),
    )
    lstm_steps.step(
        [loop.latents[now], loop.decoder[now]],
        layers.decode,
        layers.decode_bias,
        loop.decoder_cells[now],
        (loop.decoder_cells[after], loop.decoder[after], loop.decoder_gates[now]),
        in_tf32,
    )
    lstm_steps.linear(loop.decoder[after], layers.say, layers.say_bias, loop.said[now], in_tf32)


def _begin_back(loop: Loop, layers: Layers, of_canvas: Tensor) -> Gradients:
    rows = len(of_canvas)
    return Gradients(
        said=torch.empty_like(loop.said),
        posteriors=torch.empty_like(loop.posteriors),
        encoder_gates=torch.empty_like(loop.encoder_gates),
        decoder_gates=torch.empty_like(loop.decoder_gates),
        canvas=of_canvas.clone(memory_format=torch.contiguous_format),
        encoder_cell=torch.zeros_like(loop.encoder[0]),
        decoder_cell=torch.zeros_like(loop.decoder[0]),
        encode=of_canvas.new_zeros(rows, layers.encode.shape[1]),
        decode=of_canvas.new_zeros(rows, layers.decode.shape[1]),
    )


def _take_decoder_back(loop: Loop, layers: Layers, gradients: Gradients, now: int, in_tf32: bool) -> None:
    """Store the gradients of the decoder's gates, and of its input."""
    rows, units = loop.decoder[now].shape
    _decoder_gradient_kernel[grid(rows, units)](
        gradients.said[now],
        layers.say,
        gradients.decode[:, loop.latents.shape[2] :],
        gradients.encode[:, loop.seen.shape[2] :],
        loop.decoder_gates[now],
        loop.decoder_cells[now],
        loop.decoder_cells[now + 1],
        gradients.decoder_cell,
        gradients.decoder_gates[now],
        rows,
        loop.said.shape[2],
        gradients.decode.shape[1],
        gradients.encode.shape[1],
        units,
        *tiles(in_tf32),
    )
    lstm_steps.product(gradients.decoder_gates[now], layers.decode, gradients.decode, in_tf32)


def _take_encoder_back(
    loop: Loop, layers: Layers, gradients: Gradients, of_bound: Tensor, now: int, in_tf32: bool
) -> None:
    """Store the gradients of the posterior, of the encoder's gates, and of its input."""
    (rows, units), latent = loop.encoder[now].shape, loop.latents.shape[2]
    _encoder_gradient_kernel[grid(rows, units)](
        gradients.decode,
        of_bound,
        loop.posteriors[now],
        loop.latents[now],
        layers.infer,
        gradients.posteriors[now],
        gradients.encode[:, loop.seen.shape[2] + units :],
        loop.encoder_gates[now],
        loop.encoder_cells[now],
        loop.encoder_cells[now + 1],
        gradients.encoder_cell,
        gradients.encoder_gates[now],
        rows,
        gradients.decode.shape[1],
        gradients.encode.shape[1],
        latent,
        units,
        *tiles(in_tf32, depth=SHALLOW),
    )
    lstm_steps.product(gradients.encoder_gates[now], layers.encode, gradients.encode, in_tf32)


class _Redraw(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        pictures: Tensor,
        noise: Tensor,
        grids: windows.Grids,
        in_tf32: bool,
        canvas: Tensor,
        seen: Tensor,
        decoder: Tensor,
        encoder: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor]:
        pictures, noise = pictures.contiguous(), noise.contiguous()
        if in_tf32:
            weights = tuple(rounded_to_tf32(tensor) if tensor.dim() == 2 else tensor for tensor in weights)
        layers = Layers(*weights)
        loop = _begin_loop(noise, canvas, seen, decoder, encoder, len(layers.say))
        for now in range(noise.shape[1]):
            _take_step(loop, layers, noise, now, in_tf32)
            canvases = loop.canvases[now], loop.canvases[now + 1]
            windows.turn(pictures, canvases[0], loop.said[now], grids, canvases[1], loop.seen[now + 1])
        ctx.save_for_backward(pictures, *loop, *weights)
        ctx.grids, ctx.in_tf32 = grids, in_tf32
        return loop.canvases[-1].clone(), loop.posteriors.clone()

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        pictures, *others = ctx.saved_tensors
        loop, layers = Loop(*others[: len(Loop._fields)]), Layers(*others[len(Loop._fields) :])
        gradients, of_bounds = _begin_back(loop, layers, upstream[0]), upstream[1].contiguous()
        seen, latent, units = loop.seen.shape[2], loop.latents.shape[2], loop.decoder.shape[2]
        for now in reversed(range(len(loop.latents))):
            of_seen, written, said = gradients.encode[:, :seen], loop.canvases[now + 1], loop.said[now]
            windows.turn_back(pictures, written, said, ctx.grids, gradients.canvas, of_seen, gradients.said[now])
            _take_decoder_back(loop, layers, gradients, now, ctx.in_tf32)
            _take_encoder_back(loop, layers, gradients, of_bounds[now], now, ctx.in_tf32)
        with products_in_tf32(ctx.in_tf32):
            of_weights = [
                *_of_layer(gradients.encoder_gates, [loop.seen[:-1], loop.decoder[:-1], loop.encoder[:-1]]),
                *_of_layer(gradients.posteriors, [loop.encoder[1:]]),
                *_of_layer(gradients.decoder_gates, [loop.latents, loop.decoder[:-1]]),
                *_of_layer(gradients.said, [loop.decoder[1:]]),
            ]
        of_seen, of_decoder, of_encoder = gradients.encode.split([seen, units, units], dim=1)
        of_start = gradients.canvas, of_seen, of_decoder + gradients.decode[:, latent:], of_encoder
        return None, None, None, None, *of_start, *of_weights


def _of_layer(of_outputs: Tensor, inputs: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the gradients of a layer's weights and biases from those of its outputs and its inputs at all steps."""
    of_rows = of_outputs.flatten(0, 1)
    of_weights = torch.cat([of_rows.mT @ part.flatten(0, 1) for part in inputs], dim=1)
    return of_weights, of_rows.sum(dim=0)


def redraw(
    pictures: Tensor,
    noise: Tensor,
    canvas: Tensor,
    seen: Tensor,
    decoder: Tensor,
    encoder: Tensor,
    layers: Layers,
    grids: windows.Grids,
    in_tf32: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the last canvas, and μ and log σ of every step; from the first canvas, first view and outputs.

    `grids` holds the filters per side of the reading window and of the writing window; without windows it is None.
    Pictures and noise have no gradients.
    """
    canvas, posteriors = _Redraw.apply(pictures, noise, grids, in_tf32, canvas, seen, decoder, encoder, *layers)
    return canvas, posteriors
