"""What a task carries from one batch to the next, also where a batch is worked through in pieces."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.protocols import Loss

Carry = dict[str, Tensor] | None


def carry_through(pieces: Sequence[Any], carry: Carry, work: Callable[[Any, Carry], Loss]) -> tuple[list[Loss], Carry]:
    """The losses of the pieces of one batch, worked through in order, and what is carried on to the next batch.

    A carried tensor belongs to the rows of the batch by its first axis, so each piece is given its own rows, and what
    the pieces carry on is put together again. A single number belongs to no row and goes from piece to piece.
    """
    if len(pieces) == 1:
        loss = work(pieces[0], carry)
        return [loss], _detach(loss.carry)
    rows = sum(piece.rows for piece in pieces)
    for name, tensor in (carry or {}).items():
        if tensor.dim() > 0 and len(tensor) != rows:
            raise ValueError(f"{name} is carried for {len(tensor)} rows to a batch of {rows}")
    losses: list[Loss] = []
    given, first = carry, 0
    for piece in pieces:
        loss = work(piece, _share(carry, given, first, piece.rows))
        losses.append(loss)
        given, first = loss.carry, first + piece.rows
    return losses, _join([_detach(loss.carry) for loss in losses])


def _share(carry: Carry, last: Carry, first: int, rows: int) -> Carry:
    """What a piece is given: its rows of what the batch was given, and the single numbers of the piece before it."""
    if last is None:
        return None
    if carry is None:  # a task that carries rows begins all of them anew, or none
        return last if all(tensor.dim() == 0 for tensor in last.values()) else None
    whole = {name: tensor for name, tensor in last.items() if tensor.dim() == 0}
    return whole | {name: tensor[first : first + rows] for name, tensor in carry.items() if tensor.dim() > 0}


def _join(carries: Sequence[Carry]) -> Carry:
    present = [carry for carry in carries if carry is not None]
    if not present:
        return None
    return {
        name: torch.cat([carry[name] for carry in present]) if tensor.dim() > 0 else tensor
        for name, tensor in present[-1].items()
    }


def _detach(carry: Carry) -> Carry:
    return None if carry is None else {name: tensor.detach() for name, tensor in carry.items()}
