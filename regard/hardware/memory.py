"""Running out of memory: how to recognise the error on every device, and how to continue with less at a time."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Whole = TypeVar("Whole")
Result = TypeVar("Result")

# Words in torch's errors that have no class of their own: on a CPU, and from the libraries it calls on a GPU.
_WORDS = ("DefaultCPUAllocator: ", "CUDA error: out of memory", "STATUS_ALLOC_FAILED")


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if the error means that host or device memory ran out."""
    if isinstance(error, MemoryError):
        return True
    # torch's own class is recognised by its name, so that callers need not load torch.
    is_torchs = type(error).__name__ == "OutOfMemoryError"
    return isinstance(error, RuntimeError) and (is_torchs or any(words in str(error) for words in _WORDS))


def give_back() -> None:
    """Return torch's reserved memory to the device, which may be fragmented."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def in_pieces(work: Callable[[Whole], Result], whole: Whole, halve: Callable[[Whole], Sequence[Whole]]) -> list[Result]:
    """Return the result of `work` on the whole or, if memory does not suffice, those on its halves, recursively.

    `halve` returns nothing for what cannot be cut any further.
    """
    try:
        return [work(whole)]
    except (MemoryError, RuntimeError) as error:
        halves = halve(whole) if is_out_of_memory(error) else ()
        if not halves:
            raise
    # Outside the except block, where the traceback no longer references the tensors that did not fit.
    give_back()
    return [result for half in halves for result in in_pieces(work, half, halve)]


def list_halves(items: list[Result]) -> list[list[Result]]:
    """Return both halves of a list, or nothing if it is too short."""
    middle = len(items) // 2
    return [items[:middle], items[middle:]] if middle else []
