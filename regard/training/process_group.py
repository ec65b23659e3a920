"""Ranks that are processes of torch.distributed, on one machine or several.

Notes travel between the hosts over gloo, so that nothing waits for a GPU; sums travel between the GPUs over nccl if
every rank has its own.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import PrefixStore  # type: ignore[attr-defined]  # documented, but not in its list of names
from torch.distributed import TCPStore as TCPStore  # type: ignore[attr-defined]
from torch.nn.functional import pad

from regard.base.faults import Fault
from regard.hardware.memory import is_out_of_memory
from regard.training.ranks import Ranks

ARRIVAL_SECONDS = 60.0  # within which all ranks must arrive
BEAT_SECONDS = 1.0  # between two signs of life
LONGEST_WAIT = timedelta(days=2)  # for each other, while all give signs of life: the leader may have much to write
_NOTE_BYTES = 2048  # size of a note that travels at once; a longer one is preceded by its length
_SUMMED_AT_ONCE = 1 << 22  # numbers of a row, so that little memory is needed besides the rows


class LostRank(Exception):
    """Another rank has disappeared during a collective operation."""


@dataclass(frozen=True)
class Address:
    """The place of this process among the others, from the variables that torchrun sets too."""

    rank: int
    size: int
    local_rank: int
    host: str
    port: int
    keeps_store: bool  # True if this process keeps the store through which ranks talk; else whoever started them does

    @classmethod
    def in_environment(cls, variables: Mapping[str, str] = os.environ) -> "Address | None":
        """Return the address of this process; None if it was started alone."""
        if "RANK" not in variables or "WORLD_SIZE" not in variables:
            return None
        try:
            rank, size = int(variables["RANK"]), int(variables["WORLD_SIZE"])
            local, port = int(variables.get("LOCAL_RANK", rank)), int(variables["MASTER_PORT"])
            host = variables["MASTER_ADDR"]
        except (KeyError, ValueError):
            raise Fault(
                "RANK and WORLD_SIZE are set, so MASTER_ADDR and MASTER_PORT must be set too, as torchrun does."
            ) from None
        is_kept = variables.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        return cls(rank, size, local, host, port, rank == 0 and not is_kept)

    @property
    def name(self) -> str:
        return f"rank {self.rank} of {self.size}"


def open_store(address: Address, seconds: float = ARRIVAL_SECONDS) -> TCPStore:
    """Open a connection to the store through which the ranks talk besides their collective work."""
    try:
        if not address.keeps_store:
            _await_listener(address, seconds)  # torch would fill the terminal with its attempts
        with _silence():
            return TCPStore(
                address.host,
                address.port,
                is_master=address.keeps_store,
                timeout=timedelta(seconds=seconds),
                wait_for_workers=False,
            )
    except (OSError, RuntimeError):  # torch's network errors are RuntimeErrors
        raise Fault(
            f"{address.name.capitalize()} cannot reach {address.host}:{address.port}, where the ranks meet, within "
            f"{seconds:.0f} seconds. Check the network between the machines, and that rank 0 runs."
        ) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Hide what torch itself writes to stderr inside this block: if something other than a store listens, that is a
    page for every attempt."""
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _await_listener(address: Address, seconds: float) -> None:
    """Wait until something listens where the ranks meet; raise OSError if that takes too long."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((address.host, address.port), timeout=max(0.1, end - time.monotonic())).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class ProcessGroup(Ranks):
    """The ranks of a training with several processes, as one of them sees them."""

    is_group = True

    def __init__(self, address: Address, store: TCPStore, seconds: float = ARRIVAL_SECONDS) -> None:
        self.address, self.store = address, store
        self.rank, self.size = address.rank, address.size
        self.step = 0
        self._await_all(seconds)
        has_own_gpu = torch.cuda.is_available() and torch.cuda.device_count() > address.local_rank
        if torch.cuda.is_available():
            torch.cuda.set_device(address.local_rank % torch.cuda.device_count())
        self.shares_gpus = not all(self._gather_by_store("gpu", has_own_gpu))
        dist.init_process_group(
            "gloo" if self.shares_gpus else "cpu:gloo,cuda:nccl",
            store=PrefixStore("group", store),
            rank=self.rank,
            world_size=self.size,
            timeout=LONGEST_WAIT,
        )

    def _await_all(self, seconds: float) -> None:
        """Wait until every rank has arrived; name those that have not."""
        self.store.set(f"arrived/{self.rank}", "yes")
        end, missing = time.monotonic() + seconds, list(range(self.size))
        while missing and time.monotonic() < end:
            missing = [rank for rank in missing if not self.store.check([f"arrived/{rank}"])]
            if missing:
                time.sleep(0.05)
        if missing:
            named = ", ".join(map(str, missing[:8])) + (" and others" if len(missing) > 8 else "")
            raise Fault(f"Of {self.size} ranks, these have not arrived within {seconds:.0f} seconds: {named}.")

    def _gather_by_store(self, name: str, flag: bool) -> list[bool]:
        """Gather a flag of each rank, before there is a group to gather notes in."""
        self.store.set(f"{name}/{self.rank}", str(flag))
        return [self.store.get(f"{name}/{rank}") == b"True" for rank in range(self.size)]

    def close(self) -> None:
        """Leave the group when everything is done."""
        with _talking():
            dist.destroy_process_group()

    def gather(self, note: Any) -> list[Any]:
        content = json.dumps(note).encode()
        head = len(content).to_bytes(8, "little")
        gathered = self._gather_bytes((head + content)[:_NOTE_BYTES], _NOTE_BYTES)
        lengths = [int.from_bytes(content_of[:8], "little") for content_of in gathered]
        if max(lengths) > _NOTE_BYTES - 8:
            gathered = self._gather_bytes(head + content, max(lengths) + 8)
        return [json.loads(content_of[8 : 8 + length]) for content_of, length in zip(gathered, lengths, strict=True)]

    def _gather_bytes(self, content: bytes, room: int) -> list[bytes]:
        content_bytes = torch.frombuffer(bytearray(content.ljust(room, b" ")), dtype=torch.uint8)
        gathered = [torch.empty_like(content_bytes) for _ in range(self.size)]
        with _talking():
            dist.all_gather(gathered, content_bytes)
        return [buffer.numpy().tobytes() for buffer in gathered]

    def sum_in_order(self, rows: Tensor) -> Tensor:
        """Sum in order over all ranks: each sums a share of the numbers over all rows and sends it to the others."""
        total = rows.new_empty(rows.shape[1])
        for start in range(0, rows.shape[1], _SUMMED_AT_ONCE):
            part = rows[:, start : start + _SUMMED_AT_ONCE]
            total[start : start + part.shape[1]] = self._sum_part(part)
        return total

    def _sum_part(self, rows: Tensor) -> Tensor:
        count, width = rows.shape
        share = -(-width // self.size)
        sent = pad(rows, (0, share * self.size - width)).view(count, self.size, share).transpose(0, 1).contiguous()
        received, shares = torch.empty_like(sent), rows.new_empty(self.size, share)
        with _talking():
            dist.all_to_all_single(received, sent)
            summed = super().sum_in_order(received.flatten(0, 1))
            dist.all_gather(list(shares.unbind()), summed)
        return shares.flatten()[:width]

    def collect(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        named = [[name, str(tensor.dtype), list(tensor.shape), tensor.device.type] for name, tensor in tensors.items()]
        collected: dict[str, Tensor] = {}
        for rank, of_rank in enumerate(self.gather(named)):
            for name, kind, shape, device in of_rank:
                if rank == self.rank:
                    tensor = tensors[name].detach().contiguous()
                else:
                    tensor = torch.empty(shape, dtype=getattr(torch, kind.removeprefix("torch.")), device=device)
                if tensor.numel():
                    with _talking():
                        dist.broadcast(tensor.view(-1).view(torch.uint8), rank)
                collected[name] = tensor
        return collected

    def note_step(self, step: int) -> None:
        self.step = step


@contextmanager
def _talking() -> Iterator[None]:
    """Report a failure inside this block as a lost rank."""
    try:
        yield
    except RuntimeError as error:  # as torch's network and store errors are
        if is_out_of_memory(error):
            raise
        raise LostRank(str(error)) from error
