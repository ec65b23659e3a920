"""Ranks that are processes of torch.distributed, on one machine or on several.

Notes travel over gloo, between the hosts, so that nobody waits for a GPU to say something; sums travel between the GPUs
over nccl where every rank has one of its own.
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

ARRIVAL_SECONDS = 60.0  # in which all ranks must have come
BEAT_SECONDS = 1.0  # between two signs of life
LONGEST_WAIT = timedelta(days=2)  # for each other, as long as all give signs of life: the leader may have much to write
_NOTE_BYTES = 2048  # of a note that travels at once; of a longer one its length comes first
_SUMMED_AT_ONCE = 1 << 22  # numbers of a row, so that little memory is needed beside the rows


class LostRank(Exception):
    """Another rank has gone away in the middle of something."""


@dataclass(frozen=True)
class Address:
    """Where this process stands among the others, by the variables that torchrun sets too."""

    rank: int
    size: int
    local_rank: int
    host: str
    port: int
    keeps_store: bool  # of what the ranks tell each other; else whoever started them does

    @classmethod
    def in_environment(cls, variables: Mapping[str, str] = os.environ) -> "Address | None":
        """The address of this process; None where it was started alone."""
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
    """A line to what the ranks tell each other beside their collective work."""
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
    except (OSError, RuntimeError):  # torch's errors of networks are RuntimeErrors
        raise Fault(
            f"{address.name.capitalize()} does not reach {address.host}:{address.port}, where the ranks meet, within "
            f"{seconds:.0f} seconds; is there a network between the machines, and does rank 0 run?"
        ) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Inside this block nothing that torch writes to stderr by itself is seen: where something else than a store
    listens, that is a page at every attempt."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _await_listener(address: Address, seconds: float) -> None:
    """Wait until somebody listens where the ranks meet; raises OSError when that takes too long."""
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
    """The ranks of a training that has several processes, as one of them sees them."""

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
        """Wait until every rank has come; name those that have not."""
        self.store.set(f"arrived/{self.rank}", "yes")
        end, missing = time.monotonic() + seconds, list(range(self.size))
        while missing and time.monotonic() < end:
            missing = [rank for rank in missing if not self.store.check([f"arrived/{rank}"])]
            if missing:
                time.sleep(0.05)
        if missing:
            named = ", ".join(map(str, missing[:8])) + (" and others" if len(missing) > 8 else "")
            raise Fault(f"Of {self.size} ranks these have not come within {seconds:.0f} seconds: {named}.")

    def _gather_by_store(self, name: str, flag: bool) -> list[bool]:
        """A flag of each rank, before there is a group to gather notes in."""
        self.store.set(f"{name}/{self.rank}", str(flag))
        return [self.store.get(f"{name}/{rank}") == b"True" for rank in range(self.size)]

    def close(self) -> None:
        """Leave the group, when all is done."""
        with _talking():
            dist.destroy_process_group()

    def gather(self, note: Any) -> list[Any]:
        content = json.dumps(note).encode()
        head = len(content).to_bytes(8, "little")
        found = self._gather_bytes((head + content)[:_NOTE_BYTES], _NOTE_BYTES)
        lengths = [int.from_bytes(each[:8], "little") for each in found]
        if max(lengths) > _NOTE_BYTES - 8:
            found = self._gather_bytes(head + content, max(lengths) + 8)
        return [json.loads(each[8 : 8 + length]) for each, length in zip(found, lengths, strict=True)]

    def _gather_bytes(self, content: bytes, room: int) -> list[bytes]:
        own = torch.frombuffer(bytearray(content.ljust(room, b" ")), dtype=torch.uint8)
        found = [torch.empty_like(own) for _ in range(self.size)]
        with _talking():
            dist.all_gather(found, own)
        return [each.numpy().tobytes() for each in found]

    def sum_in_order(self, rows: Tensor) -> Tensor:
        """Each rank sums a share of the numbers, in the order of all rows, and tells the others of it."""
        total = rows.new_empty(rows.shape[1])
        for start in range(0, rows.shape[1], _SUMMED_AT_ONCE):
            part = rows[:, start : start + _SUMMED_AT_ONCE]
            total[start : start + part.shape[1]] = self._sum_part(part)
        return total

    def _sum_part(self, rows: Tensor) -> Tensor:
        count, width = rows.shape
        share = -(-width // self.size)
        sent = pad(rows, (0, share * self.size - width)).view(count, self.size, share).transpose(0, 1).contiguous()
        received, found = torch.empty_like(sent), rows.new_empty(self.size, share)
        with _talking():
            dist.all_to_all_single(received, sent)
            summed = super().sum_in_order(received.flatten(0, 1))
            dist.all_gather(list(found.unbind()), summed)
        return found.flatten()[:width]

    def collect(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        named = [[name, str(each.dtype), list(each.shape), each.device.type] for name, each in tensors.items()]
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
    """Report a failure inside this block as a rank that is gone."""
    try:
        yield
    except RuntimeError as error:  # torch's errors of networks and stores are such
        if is_out_of_memory(error):
            raise
        raise LostRank(str(error)) from error
