"""The gradients of an update: of whole batches, or of batches cut into pieces that several processes can share.

A batch is always cut into the number of pieces recorded for the run, however many processes there are. Each piece has
its own random numbers, a function of (seed, step, piece), and the gradients of the pieces are summed in order. So the
sum is the same to the last bit with one, two or four processes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.hardware.devices import seed_generators
from regard.protocols import Carries, Divisible, Loss
from regard.training.guards import Splitter
from regard.training.passes import Passes
from regard.training.ranks import Ranks
from regard.training.snapshot import Facts, Trainable, key_of
from regard.training.updates import Place, Placed


@dataclass(frozen=True)
class GroupLosses:
    """Losses of a group of batches: those of each piece of this rank, and the items and rate of all ranks."""

    by_piece: Sequence[Sequence[Loss]]
    count: Tensor | int
    rate: float


class Gradients:
    """Leaves the summed gradients of a group of batches where the optimiser looks for them.

    What is carried from batch to batch goes from each piece to the piece with the same number.
    """

    def __init__(
        self, task: Trainable, passes: Passes, pieces: int, seed: int, ranks: Ranks, splitter: Splitter
    ) -> None:
        check_shares(pieces, ranks.size)
        self.task, self.passes, self.splitter = task, passes, splitter
        self.pieces, self.seed, self.ranks = pieces, seed, ranks
        share = pieces // ranks.size
        self.own = range(ranks.rank * share, (ranks.rank + 1) * share)
        self.carries: dict[int, Carry] = {}

    def cut(self, batch: Any) -> dict[int, Any]:
        """Return the pieces of a batch for this rank, by number; a batch of few rows has fewer pieces."""
        if self.pieces == 1:
            return {0: batch}
        if not isinstance(batch, Divisible):
            raise Fault(
                f"The data of this model cannot be cut into {self.pieces} pieces. Train on one process, without "
                "--processes and with training.pieces = 1."
            )
        pieces = batch.split(min(self.pieces, batch.rows))
        if self.passes.sharded and len(pieces) < self.pieces:
            # All ranks must run each pass together. The whole batch on each of them has the same mean.
            return dict.fromkeys(self.own, batch)
        return {number: piece for number, piece in enumerate(pieces) if number in self.own}

    def stream(self, facts: Facts) -> Iterator[Placed]:
        """Yield batches without end, from the run's current place."""
        epoch, start = facts.epoch, facts.batch
        while True:
            number = start
            for number, batch in enumerate(self.task.batches("train", self.seed, epoch, start), start + 1):
                yield Placed(Place(epoch, number), self.cut(batch))
            if number == 0:
                raise Fault("The training data does not fill a single batch.")
            epoch, start = epoch + 1, 0

    def take(self, group: Sequence[Placed], step: int) -> GroupLosses:
        """Compute the gradients of an update from these batches, and return their losses."""
        if self.passes.sharded:
            return self._take_sharded(group, step)
        before, parameters = self.carries, self.passes.parameters

        def work() -> tuple[list[list[Loss]], PieceSums]:
            self.carries = dict(before)
            sums = PieceSums(parameters, self.ranks)
            by_piece = [self._take_piece(number, group, step, sums) for number in self.own]
            return by_piece, sums

        by_piece, sums = self.splitter.run([piece for placed in group for piece in placed.pieces.values()], work)
        rates = [loss.rate for losses in by_piece for loss in losses]
        if self.pieces == 1:
            return GroupLosses(by_piece, sum(loss.count for loss in by_piece[0]), fmean(rates))
        rate = fmean(rank_rate for rank_rates in self.ranks.gather(rates) for rank_rate in rank_rates)
        return GroupLosses(by_piece, sums.leave(in_place=self.passes.capturing), rate)

    def _take_sharded(self, group: Sequence[Placed], step: int) -> GroupLosses:
        """Run the group when each rank has a share of the gradients, which every pass sums over all ranks."""
        self._forget_gradients()
        by_piece = [self._take_losses(number, group, step) for number in self.own]
        if all(parameter.grad is None for parameter in self.passes.parameters):
            raise RuntimeError("no rank has a gradient of any weight: FSDP2 has summed none")
        counts_and_rates = [[int(loss.count), loss.rate] for losses in by_piece for loss in losses]
        gathered = [pair for rank_pairs in self.ranks.gather(counts_and_rates) for pair in rank_pairs]
        return GroupLosses(by_piece, sum(count for count, _ in gathered), fmean(rate for _, rate in gathered))

    def _take_piece(self, number: int, group: Sequence[Placed], step: int, sums: "PieceSums") -> list[Loss]:
        """Return the losses of one piece of each batch; its gradients go into the sums, or stay in place."""
        self._forget_gradients()
        losses = self._take_losses(number, group, step)
        if self.pieces > 1:
            sums.add(sum(loss.count for loss in losses))
        return losses

    def _forget_gradients(self) -> None:
        for parameter in self.passes.parameters:
            if self.passes.capturing and parameter.grad is not None:
                parameter.grad.zero_()
            else:
                parameter.grad = None

    def _take_losses(self, number: int, group: Sequence[Placed], step: int) -> list[Loss]:
        key = key_of(self.seed, step) if self.pieces == 1 else key_of(self.seed, step, number)
        seed_generators(key, self.passes.device)
        losses: list[Loss] = []
        for placed in group:
            if number in placed.pieces:
                losses += self._backward(number, placed)
        return losses

    def _backward(self, number: int, placed: Placed) -> list[Loss]:
        if placed.place.number == 1 and isinstance(self.task, Carries) and self.task.carry_ends_with_epoch:
            self.carries[number] = None
        parts = self.splitter.parts_of(placed.pieces[number])
        losses, self.carries[number] = carry_through(parts, self.carries.get(number), self.passes)
        return losses

    def carried(self) -> dict[str, Tensor]:
        """Return the carry of all pieces, under names that a checkpoint can hold."""
        own_carry = {
            self._name(number, name): tensor
            for number, carry in self.carries.items()
            for name, tensor in (carry or {}).items()
        }
        return self.ranks.collect(own_carry)

    def resume_carried(self, tensors: dict[str, Tensor], device: torch.device) -> None:
        """Continue with what `carried` returned."""
        self.carries = {}
        for number in self.own:
            start = self._name(number, "")
            carry = {
                name.removeprefix(start): tensor.to(device)
                for name, tensor in tensors.items()
                if name.startswith(start)
            }
            self.carries[number] = carry or None

    def _name(self, number: int, name: str) -> str:
        return name if self.pieces == 1 else f"{number}.{name}"


class PieceSums:
    """Gradients of pieces to be summed: one row for each piece, with its parameters end to end and its count."""

    def __init__(self, parameters: Sequence[nn.Parameter], ranks: Ranks) -> None:
        self.parameters, self.ranks = parameters, ranks
        self.rows: list[Tensor] = []
        self.is_used = [False] * len(parameters)  # a parameter that no piece has used gets no gradient

    def add(self, count: Tensor | int) -> None:
        """Take over the gradients of the next piece from the parameters."""
        parts = []
        for number, parameter in enumerate(self.parameters):
            gradient = parameter.grad
            self.is_used[number] |= gradient is not None
            dense = gradient.to_dense() if gradient is not None and gradient.is_sparse else gradient
            parts.append(torch.zeros_like(parameter).flatten() if dense is None else dense.flatten())
        row = torch.cat([*parts, torch.as_tensor(count, dtype=parts[0].dtype, device=parts[0].device).view(1)])
        if self.rows and self.ranks.size == 1:
            self.rows[0] += row  # the same sum, in the memory of one row
        else:
            self.rows.append(row)

    def leave(self, in_place: bool) -> Tensor:
        """Set each parameter's gradient to the sum over the pieces of all ranks; return the sum of the counts."""
        used = [any(of_ranks) for of_ranks in zip(*self.ranks.gather(self.is_used), strict=True)]
        total = self.ranks.sum_in_order(torch.stack(self.rows) if len(self.rows) > 1 else self.rows[0][None])
        sizes = [parameter.numel() for parameter in self.parameters]
        *sums, count = total.split([*sizes, 1])
        for parameter, gradient, is_used in zip(self.parameters, sums, used, strict=True):
            if in_place and parameter.grad is not None:
                parameter.grad.copy_(gradient.view_as(parameter))
            else:
                parameter.grad = gradient.view_as(parameter) if is_used else None
        return count[0]


def check_shares(pieces: int, processes: int) -> None:
    """Refuse processes that would have unequal shares of the pieces, or none."""
    if pieces % processes:
        raise Fault(
            f"training.pieces is {pieces}, which {processes} processes cannot share evenly. "
            f"Use {_divisors(pieces)} processes, or another number of pieces in a new run."
        )


def check_rows(first: Iterable[Any], pieces: int) -> None:
    """Refuse to cut batches into more pieces than they have rows, judging by the first batches."""
    most = max((batch.rows for batch in first if isinstance(batch, Divisible)), default=pieces)
    if most < pieces:
        refuse_pieces(pieces, f"the largest of the first batches has {most} rows")


def refuse_pieces(pieces: int, why: str) -> NoReturn:
    """Refuse to cut batches into this many pieces."""
    raise Fault(f"training.pieces is {pieces}, but {why}. Use fewer processes, fewer pieces, or larger batches.")


def _divisors(number: int) -> str:
    *others, last = [divisor for divisor in range(1, number + 1) if number % divisor == 0]
    return f"{', '.join(map(str, others))} or {last}" if others else str(last)


Carry = dict[str, Tensor] | None


def carry_through(pieces: Sequence[Any], carry: Carry, work: Callable[[Any, Carry], Loss]) -> tuple[list[Loss], Carry]:
    """Return the losses of the pieces of one batch, processed in order, and the carry to the next batch.

    The first axis of a carried tensor is the rows of the batch, so each piece gets its own rows, and the pieces'
    carries are joined again. A single number belongs to no row and passes from piece to piece.
    """
    if len(pieces) == 1:
        loss = work(pieces[0], carry)
        return [loss], _detach(loss.carry)
    rows = sum(piece.rows for piece in pieces)
    for name, tensor in (carry or {}).items():
        if tensor.dim() > 0 and len(tensor) != rows:
            raise ValueError(f"{name} is carried for {len(tensor)} rows to a batch of {rows}")
    losses: list[Loss] = []
    last, first = carry, 0
    for piece in pieces:
        loss = work(piece, _share(carry, last, first, piece.rows))
        losses.append(loss)
        last, first = loss.carry, first + piece.rows
    return losses, _join([_detach(loss.carry) for loss in losses])


def _share(carry: Carry, last: Carry, first: int, rows: int) -> Carry:
    """Return the carry of a piece: its rows of the batch's carry, and single numbers from the piece before it."""
    if last is None:
        return None
    if carry is None:  # a task that carries rows starts all of them afresh, or none
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
