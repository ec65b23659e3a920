"""Out-of-memory errors: recognised, and avoided by working in pieces."""

import subprocess
import sys

import pytest
import torch

from regard.hardware.memory import in_pieces, is_out_of_memory, list_halves

FAKE = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes. Error code 12")


@pytest.mark.parametrize(
    ("error", "is_it"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (FAKE, True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("DefaultCPUAllocator: can't allocate memory"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_memory_that_runs_out_is_known_by_its_error(error: BaseException, is_it: bool) -> None:
    assert is_out_of_memory(error) is is_it


def test_what_does_not_fit_is_done_in_halves_and_in_order() -> None:
    tried: list[int] = []

    def work(items: list[int]) -> int:
        tried.append(len(items))
        if len(items) > 2:
            raise FAKE
        return sum(items)

    assert in_pieces(work, [1, 2, 3, 4, 5], list_halves) == [1 + 2, 3, 4 + 5]
    assert tried == [5, 2, 3, 1, 2]


def test_what_cannot_be_halved_and_other_errors_come_through() -> None:
    def work(items: list[int]) -> int:
        raise FAKE if items == [1] else ValueError("other")

    with pytest.raises(RuntimeError, match="DefaultCPUAllocator"):
        in_pieces(work, [1], list_halves)
    with pytest.raises(ValueError, match="other"):
        in_pieces(work, [1, 2], list_halves)


SCRIPT = """
import resource
import torch
from dataclasses import dataclass
from regard.hardware.memory import in_pieces, list_halves
from regard.training.guards import Splitter

@dataclass
class Batch:
    rows: int

    def split(self, parts):
        return [Batch(self.rows // parts)] * parts

ROW = 100 * 2**20

def work(rows):
    return len(torch.empty(rows, ROW, dtype=torch.uint8))

def fits(rows):
    try:
        return bool(work(rows))
    except RuntimeError:
        return False

# How much an allocator has in reserve differs by machine, so the limit is lowered until it is felt.
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 4 * ROW
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
while fits(4):
    limit -= ROW // 2
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
assert fits(2)

splitter = Splitter(print, lambda: None)
batch = Batch(8)
print(splitter.run([batch], lambda: [work(part.rows) for part in splitter.parts_of(batch)]))
print(in_pieces(lambda items: work(len(items)), [0] * 8, list_halves))
"""


@pytest.mark.long
def test_a_real_limit_of_the_memory_is_met_by_smaller_pieces() -> None:
    """Rows of 100 MB each, with room for two of them but not for four."""
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60)
    assert ended.stdout.splitlines() == [
        "out of memory: from here on each batch is processed in 2 parts",
        "out of memory: from here on each batch is processed in 4 parts",
        "[2, 2, 2, 2]",
        "[2, 2, 2, 2]",
    ], ended.stderr
