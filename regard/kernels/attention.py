"""Attention over packed sentences, a whole sentence and head at a time.

Sentences of a translator are short: the scores of one head fit the registers of one program, so there is no padding and
no table of scores in memory, and the backward pass computes the weights again instead of reading them.
"""

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.kernels.dropping import Dropping, dropped

WARPS = {16: (1, 1), 32: (2, 2), 64: (4, 4), 128: (4, 8)}  # by the room of a program: forward and backward
MOST_WARPS = (8, 8)


@triton.jit
def _weights(queries, keys, key_count, scale, room: tl.constexpr, causal: tl.constexpr):
    """softmax(Q Kᵀ · scale) of one sentence and head; padding gets no weight."""
    scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * scale
    place = tl.arange(0, room)[None, :]
    allowed = place < key_count
    if causal:
        allowed = allowed & (place <= tl.arange(0, room)[:, None])
    highest = tl.max(tl.where(allowed, scores, float("-inf")), 1)[:, None]
    powers = tl.exp(tl.where(allowed, scores - highest, float("-inf")))
    return powers / tl.maximum(
        tl.sum(powers, 1)[:, None], 1.0
    )  # the highest gives 1; the sum is less only without keys


@triton.jit
def _tile(pointer, first, count, stride, room: tl.constexpr, depth: tl.constexpr):
    """Return the addresses of one sentence's rows, and which of them are real."""
    rows = tl.arange(0, room)
    places = (first + rows).to(tl.int64)[:, None] * stride + tl.arange(0, depth)[None, :]
    return pointer + places, (rows < count)[:, None]


@triton.jit
def _chances(first, head, heads: tl.constexpr, room: tl.constexpr):
    """Return a distinct number for every weight of a batch."""
    rows = (first + tl.arange(0, room)) * heads + head
    return rows[:, None] * 128 + tl.arange(0, room)[None, :]


@triton.jit(do_not_specialize=["site", "threshold"])
def _look_kernel(
    query,
    key,
    value,
    context,
    query_offsets,
    key_offsets,
    query_stride,
    key_stride,
    scale,
    seed,
    site,
    threshold,
    rescale,
    heads: tl.constexpr,
    depth: tl.constexpr,
    room: tl.constexpr,
    causal: tl.constexpr,
    drops: tl.constexpr,
):
    sentence, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    query_first, key_first = tl.load(query_offsets + sentence), tl.load(key_offsets + sentence)
    query_count = tl.load(query_offsets + sentence + 1) - query_first
    key_count = tl.load(key_offsets + sentence + 1) - key_first
    at, real = _tile(query + head * depth, query_first, query_count, query_stride, room, depth)
    queries = tl.load(at, real, 0.0)
    at, there = _tile(key + head * depth, key_first, key_count, key_stride, room, depth)
    keys = tl.load(at, there, 0.0)
    at, there = _tile(value + head * depth, key_first, key_count, key_stride, room, depth)
    values = tl.load(at, there, 0.0)
    weights = _weights(queries, keys, key_count, scale, room, causal)
    if drops:
        weights = dropped(weights, _chances(query_first, head, heads, room), seed, site, threshold, rescale)
    mixed = tl.dot(weights.to(values.dtype), values, input_precision="ieee")
    at, real = _tile(context + head * depth, query_first, query_count, heads * depth, room, depth)
    tl.store(at, mixed, real)


@triton.jit(do_not_specialize=["site", "threshold"])
def _look_gradient_kernel(
    query,
    key,
    value,
    of_context,
    of_query,
    of_key,
    of_value,
    query_offsets,
    key_offsets,
    query_stride,
    key_stride,
    scale,
    seed,
    site,
    threshold,
    rescale,
    heads: tl.constexpr,
    depth: tl.constexpr,
    room: tl.constexpr,
    causal: tl.constexpr,
    drops: tl.constexpr,
):
    sentence, head = tl.program_id(0) // heads, tl.program_id(0) % heads
    query_first, key_first = tl.load(query_offsets + sentence), tl.load(key_offsets + sentence)
    query_count = tl.load(query_offsets + sentence + 1) - query_first
    key_count = tl.load(key_offsets + sentence + 1) - key_first
    at, real = _tile(query + head * depth, query_first, query_count, query_stride, room, depth)
    queries = tl.load(at, real, 0.0)
    at, there = _tile(key + head * depth, key_first, key_count, key_stride, room, depth)
    keys = tl.load(at, there, 0.0)
    at, there = _tile(value + head * depth, key_first, key_count, key_stride, room, depth)
    values = tl.load(at, there, 0.0)
    at, real = _tile(of_context + head * depth, query_first, query_count, heads * depth, room, depth)
    upstream = tl.load(at, real, 0.0)
    weights = _weights(queries, keys, key_count, scale, room, causal)
    gradient = tl.dot(upstream, tl.trans(values), input_precision="ieee")
    used = weights
    if drops:
        chances = _chances(query_first, head, heads, room)
        used = dropped(weights, chances, seed, site, threshold, rescale)
        gradient = dropped(gradient, chances, seed, site, threshold, rescale)
    found = tl.dot(tl.trans(used.to(upstream.dtype)), upstream, input_precision="ieee")
    at, there = _tile(of_value + head * depth, key_first, key_count, key_stride, room, depth)
    tl.store(at, found, there)
    # gradient of the softmax: w · (gradient − Σ w · gradient)
    gradient = weights * (gradient - tl.sum(weights * gradient, 1)[:, None]) * scale
    gradient = gradient.to(keys.dtype)
    at, real = _tile(of_query + head * depth, query_first, query_count, query_stride, room, depth)
    tl.store(at, tl.dot(gradient, keys, input_precision="ieee"), real)
    at, there = _tile(of_key + head * depth, key_first, key_count, key_stride, room, depth)
    tl.store(at, tl.dot(tl.trans(gradient), queries, input_precision="ieee"), there)


@dataclass(frozen=True)
class Shape:
    """The sentences and heads of an attention: offsets hold the start of each sentence and the end of the last."""

    heads: int
    query_offsets: Tensor
    key_offsets: Tensor
    room: int  # a power of two that is at least the length of every sentence
    causal: bool = False


class _Look(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, projected: Tensor, memory: Tensor | None, shape: Shape, dropping: Dropping) -> Tensor:
        parts = _parts(projected, memory)
        context = torch.empty_like(parts[0], memory_format=torch.contiguous_format)
        forwards, _ = WARPS.get(shape.room, MOST_WARPS)
        _launch(_look_kernel, (*parts, context), parts, shape, dropping, forwards)
        ctx.save_for_backward(projected, memory)
        ctx.shape, ctx.dropping = shape, dropping
        return context

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        projected, memory = ctx.saved_tensors
        of_projected = torch.empty_like(projected)
        of_memory = None if memory is None else torch.empty_like(memory)
        parts, of_parts = _parts(projected, memory), _parts(of_projected, of_memory)
        tensors = (*parts, upstream[0].contiguous(), *of_parts)
        _, backwards = WARPS.get(ctx.shape.room, MOST_WARPS)
        _launch(_look_gradient_kernel, tensors, parts, ctx.shape, ctx.dropping, backwards)
        return of_projected, of_memory, None, None


def _parts(projected: Tensor, memory: Tensor | None) -> tuple[Tensor, ...]:
    """Return queries, keys and values: side by side in one tensor, or keys and values in a separate memory."""
    return projected.chunk(3, dim=1) if memory is None else (projected, *memory.chunk(2, dim=1))


def _launch(
    kernel: Any,
    tensors: tuple[Tensor, ...],
    parts: tuple[Tensor, ...],
    shape: Shape,
    drop: Dropping,
    warps: int,
) -> None:
    query, key, _ = parts
    depth = query.shape[1] // shape.heads
    kernel[(shape.heads * (len(shape.query_offsets) - 1),)](
        *tensors,
        shape.query_offsets,
        shape.key_offsets,
        query.stride(0),
        key.stride(0),
        depth**-0.5,
        *drop.arguments,
        heads=shape.heads,
        depth=depth,
        room=shape.room,
        causal=shape.causal,
        drops=drop.share > 0,
        num_warps=warps,
    )


def look(projected: Tensor, memory: Tensor | None, shape: Shape, dropping: Dropping) -> Tensor:
    """softmax(Q Kᵀ / √depth) V of every sentence and head, (row, width).

    Without a memory, `projected` holds queries, keys and values side by side (row, 3 · width); with one it holds the
    queries, and the memory holds keys and values (row of the memory, 2 · width).
    """
    return _Look.apply(projected, memory, shape, dropping)
