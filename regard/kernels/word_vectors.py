"""Word vectors on a GPU, in Triton: parts of a batch learn in parallel without locks, each place by place.

Several programs add to the same row atomically, so nothing is lost, but a row may be read while others add to it, as
with lock-free threads on a CPU: no two runs are equal to the bit. The formulas are those of `text_updates` and
`glove_updates`. There must not be too many programs: if hundreds of them move the row of a frequent word at once
without seeing each other's steps, the vectors explode, as they did with one program for each place.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_FEWEST_ROWS = 8  # rows of a tile: the true word and the sampled ones


@triton.jit
def _text_kernel(
    words, lows, highs, rates, negatives, part_starts, part_rows, centres, contexts, losses, places, share, width,
    is_cbow: tl.constexpr, divide: tl.constexpr, window: tl.constexpr, drawn: tl.constexpr,
    rows: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * share
    for number in range(0, share):
        place = first + number
        if place < places:
            _learn_place(
                place, words, lows, highs, rates, negatives, part_starts, part_rows, centres, contexts, losses, width,
                is_cbow, divide, window, drawn, rows, block,
            )  # fmt: skip


@triton.jit
def _learn_place(
    place, words, lows, highs, rates, negatives, part_starts, part_rows, centres, contexts, losses, width,
    is_cbow: tl.constexpr, divide: tl.constexpr, window: tl.constexpr, drawn: tl.constexpr,
    rows: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    low, high, rate = tl.load(lows + place), tl.load(highs + place), tl.load(rates + place)
    column, row = tl.arange(0, block), tl.arange(0, rows)
    inside = column < width
    first_input, last_input = (low, high) if is_cbow else (place, place + 1)
    first_aim, last_aim = (place, place + 1) if is_cbow else (low, high)
    hidden, count = tl.zeros([block], tl.float32), 0
    for other in range(first_input, last_input):
        word = tl.load(words + other)
        start, end = tl.load(part_starts + word), tl.load(part_starts + word + 1)
        if is_cbow and other == place:
            end = start
        for part in range(start, end):
            hidden += tl.load(centres + tl.load(part_rows + part).to(tl.int64) * width + column, inside, 0.0)
        count += (end - start).to(tl.int32)
    hidden = hidden / tl.maximum(count, 1)
    total, loss = tl.zeros([block], tl.float32), 0.0
    for aim in range(first_aim, last_aim):
        if (is_cbow and count > 0) or (not is_cbow and aim != place):
            right = tl.load(words + aim)
            # The true word first, then those sampled for this place and this distance.
            slot = place * 1 if is_cbow else place * 2 * window + aim - place + window - (aim > place).to(tl.int32)
            others = tl.load(negatives + slot.to(tl.int64) * drawn + row - 1, (row > 0) & (row <= drawn), 0)
            target = tl.where(row == 0, right, others).to(tl.int64)
            real = (row == 0) | ((row <= drawn) & (others != right))
            where = contexts + target[:, None] * width + column[None, :]
            some = real[:, None] & inside[None, :]
            vectors = tl.load(where, some, 0.0)
            scores = tl.sum(vectors * hidden[None, :], 1)
            chance = 1 / (1 + tl.exp(-scores))
            step = tl.where(real, tl.where(row == 0, 1 - chance, -chance), 0.0) * rate
            likelihood = tl.where(row == 0, chance, 1 - chance)
            loss -= tl.sum(tl.where(real, tl.log(tl.maximum(likelihood, 1e-30)), 0.0))
            error = tl.sum(step[:, None] * vectors, 0)
            tl.atomic_add(where, step[:, None] * hidden[None, :], some, sem="relaxed")
            if divide:
                error = error / count
            hidden += error
            total += error
    for other in range(first_input, last_input):
        word = tl.load(words + other)
        start, end = tl.load(part_starts + word), tl.load(part_starts + word + 1)
        if is_cbow and other == place:
            end = start
        for part in range(start, end):
            where_row = centres + tl.load(part_rows + part).to(tl.int64) * width + column
            tl.atomic_add(where_row, total, inside, sem="relaxed")
    tl.store(losses + place, loss)


@triton.jit
def _step(values, sums, gradient, rate, inside):
    """AdaGrad's step, on places that other programs may be adding to."""
    square = gradient * gradient
    before = tl.atomic_add(sums, square, inside, sem="relaxed")
    sums_now = tl.where(inside, before + square, 1.0)
    tl.atomic_add(values, -rate * gradient / tl.sqrt(sums_now), inside, sem="relaxed")


@triton.jit
def _pair_kernel(
    rows, columns, logarithms, weights, losses, pairs, share, rate, width,
    centres, contexts, centre_biases, context_biases,
    centres_sums, contexts_sums, centre_biases_sums, context_biases_sums,
    block: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * share
    for number in range(0, share):
        pair = first + number
        if pair < pairs:
            _learn_pair(
                pair, rows, columns, logarithms, weights, losses, rate, width,
                centres, contexts, centre_biases, context_biases,
                centres_sums, contexts_sums, centre_biases_sums, context_biases_sums, block,
            )  # fmt: skip


@triton.jit
def _learn_pair(
    pair, rows, columns, logarithms, weights, losses, rate, width,
    centres, contexts, centre_biases, context_biases,
    centres_sums, contexts_sums, centre_biases_sums, context_biases_sums,
    block: tl.constexpr,
):  # fmt: skip
    row, column = tl.load(rows + pair).to(tl.int64), tl.load(columns + pair).to(tl.int64)
    each = tl.arange(0, block)
    inside, is_first = each < width, each == 0
    of_row, of_column = row * width + each, column * width + each
    centre = tl.load(centres + of_row, inside, 0.0)
    context = tl.load(contexts + of_column, inside, 0.0)
    error = tl.sum(centre * context) + tl.load(centre_biases + row) + tl.load(context_biases + column)
    error -= tl.load(logarithms + pair)
    weight = tl.load(weights + pair)
    tl.store(losses + pair, 0.5 * weight * error * error)
    slope = weight * error
    _step(centres + of_row, centres_sums + of_row, slope * context, rate, inside)
    _step(contexts + of_column, contexts_sums + of_column, slope * centre, rate, inside)
    alone = tl.zeros([block], tl.int64)  # the biases are single numbers: the first place of the block represents them
    slopes = tl.zeros([block], tl.float32) + slope
    _step(centre_biases + row + alone, centre_biases_sums + row + alone, slopes, rate, is_first)
    _step(context_biases + column + alone, context_biases_sums + column + alone, slopes, rate, is_first)


def learn_places(
    words: Tensor,
    lows: Tensor,
    highs: Tensor,
    rates: Tensor,
    negatives: Tensor,
    parts: tuple[Tensor, Tensor],
    centres: Tensor,
    contexts: Tensor,
    is_cbow: bool,
    divide_mean: bool,
    window: int,
    programs: int,
) -> Tensor:
    """Learn from all places of some text by negative sampling, in `programs` programs; return the loss of each place.

    The window of a place reaches from its low to before its high. `negatives` has a row of sampled words for each
    possible prediction: for CBOW one per place, for skip-gram one per place and distance.
    """
    width, drawn = centres.shape[1], negatives.shape[-1]
    losses = torch.empty(len(words), dtype=torch.float32, device=words.device)
    with torch.cuda.device_of(centres):
        _text_kernel[(programs,)](
            words, lows, highs, rates, negatives, *parts, centres, contexts, losses,
            len(words), -(-len(words) // programs), width,
            is_cbow=is_cbow, divide=divide_mean, window=window, drawn=drawn,
            rows=max(_FEWEST_ROWS, triton.next_power_of_2(drawn + 1)), block=triton.next_power_of_2(width),
            num_warps=1 if width <= 128 else 4,
        )  # fmt: skip
    return losses


def learn_cooccurrences(
    rows: Tensor,
    columns: Tensor,
    logarithms: Tensor,
    weights: Tensor,
    tables: dict[str, Tensor],
    rate: float,
    programs: int,
) -> Tensor:
    """Learn from some pairs by GloVe's error, in `programs` programs; return the loss of each pair.

    `tables` are named as in the model.
    """
    width = tables["centres"].shape[1]
    losses = torch.empty(len(rows), dtype=torch.float32, device=rows.device)
    names = ("centres", "contexts", "centre_biases", "context_biases")
    arguments = [tables[name] for name in names] + [tables[f"{name}_sums"] for name in names]
    with torch.cuda.device_of(rows):
        _pair_kernel[(programs,)](
            rows, columns, logarithms, weights, losses, len(rows), -(-len(rows) // programs), rate, width, *arguments,
            block=triton.next_power_of_2(width), num_warps=1 if width <= 128 else 4,
        )  # fmt: skip
    return losses
