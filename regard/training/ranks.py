"""The processes that train one run together, and how they communicate."""

from typing import Any

from torch import Tensor


class Ranks:
    """Processes that train one run together, numbered from 0; this class stands for a process that trains alone.

    All take the same steps in the same order. The first one leads: it alone writes files and speaks to users.
    """

    rank, size = 0, 1
    is_group = False  # True for a group of torch.distributed, even with a single process
    shares_gpus = False  # True if there are GPUs, but not one for every rank

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def gather(self, note: Any) -> list[Any]:
        """Return the notes of all ranks, in order; a note is anything that JSON can hold."""
        return [note]

    def sum_in_order(self, rows: Tensor) -> Tensor:
        """Return the sum of the rows of all ranks, one after the other, in the order of ranks."""
        total = rows[0].clone()
        for row in rows[1:]:
            total += row
        return total

    def collect(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the named tensors of all ranks together."""
        return tensors

    def share(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the named tensors of the leading rank."""
        return self.collect(tensors if self.leads else {})

    def note_step(self, step: int) -> None:
        """Report this rank's step to the others."""


ALONE = Ranks()
