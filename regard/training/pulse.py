"""Signs of life of the ranks: each reports its step, and each can notice that another has fallen silent."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.training.process_group import BEAT_SECONDS, ProcessGroup, TCPStore, open_store

SILENCE_SECONDS = 15.0  # without a sign of life, after which a rank counts as lost


class Farewell(NamedTuple):
    """Last words of a rank that ends early: sentences, and whether they describe a user's fault."""

    is_fault: bool
    sentences: Sequence[str]


def say_farewell(store: TCPStore, rank: int, farewell: Farewell) -> None:
    store.set(f"farewell/{rank}", json.dumps(farewell))


def farewell_of(store: TCPStore, rank: int) -> Farewell | None:
    """Return the last words of a rank that has ended, or None."""
    if not store.check([f"farewell/{rank}"]):
        return None
    return Farewell(*json.loads(store.get(f"farewell/{rank}")))


def step_of(store: TCPStore, rank: int) -> int | None:
    """Return the last step that a rank has reported; None before the first."""
    return int(store.get(f"step/{rank}")) if store.check([f"step/{rank}"]) else None


class Pulse:
    """A thread that gives signs of life, and watches those of the others if `on_silence` is set.

    It has its own connection to the store, because waiting on a connection blocks its other users.
    """

    def __init__(self, group: ProcessGroup, on_silence: Callable[[str], None] | None) -> None:
        address = group.address
        self.group, self.on_silence, self._ending = group, on_silence, threading.Event()
        self._store = open_store(replace(address, keeps_store=False))
        self._heard: dict[int, tuple[bytes, float]] = {}
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Report that this rank has ended normally."""
        self._ending.set()
        self._thread.join()

    def _beat(self) -> None:
        beats, rank = 0, self.group.rank
        try:
            while not self._ending.wait(BEAT_SECONDS if beats else 0.0):
                beats += 1
                self._store.set(f"step/{rank}", str(self.group.step))
                self._store.set(f"pulse/{rank}", str(beats))
                if self.on_silence and (silent := self._silent_rank()) is not None:
                    self.on_silence(silence_sentence(silent, self.group.size, step_of(self._store, silent)))
            self._store.set(f"pulse/{rank}", "ended")
        except RuntimeError:  # the store is gone, and with it the process that kept it
            if self.on_silence and not self._ending.is_set():
                self.on_silence(silence_sentence(0, self.group.size, self.group.step))

    def _silent_rank(self) -> int | None:
        """Return a rank that has given no sign of life for too long, or None."""
        now = time.monotonic()
        for rank in range(self.group.size):
            beat = self._store.get(f"pulse/{rank}") if self._store.check([f"pulse/{rank}"]) else b""
            if beat != self._heard.get(rank, (None, now))[0]:
                self._heard[rank] = beat, now
            elif beat != b"ended" and now - self._heard[rank][1] > SILENCE_SECONDS:
                return rank
        return None


def silence_sentence(rank: int, size: int, step: int | None) -> str:
    return f"Rank {rank} of {size} has given no sign of life for {SILENCE_SECONDS:.0f} seconds{after(step)}"


def after(step: int | None) -> str:
    """Return when something happened, for the end of a clause."""
    return f" after step {step}" if step else " before the first step"
