"""The processes that train one run together, and what they say to each other."""

from typing import Any

from torch import Tensor


class Ranks:
    """Processes that train one run together, numbered from 0; this class is that of a process which trains alone.

    All of them take the same steps in the same order. The first one leads: it alone writes, and speaks to people.
    """

    rank, size = 0, 1
    is_group = False  # of torch.distributed, be it of a single process
    shares_gpus = False  # if there are any: not every rank has one of its own

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def gather(self, note: Any) -> list[Any]:
        """The notes of all ranks, in their order; a note is what JSON can hold."""
        return [note]

    def sum_in_order(self, rows: Tensor) -> Tensor:
        """The sum of the rows of all ranks, one after the other: those of the first rank, then those of the next."""
        total = rows[0].clone()
        for row in rows[1:]:
            total += row
        return total

    def collect(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The named tensors of all ranks together."""
        return tensors

    def share(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The named tensors of the rank that leads."""
        return self.collect(tensors if self.leads else {})

    def note_step(self, step: int) -> None:
        """Let the others know how far this rank has come."""


ALONE = Ranks()
