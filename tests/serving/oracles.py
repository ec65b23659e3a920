"""Models without weights and without torch, which answer what a person can check."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.protocols import Answer
from regard.serving.doors.records import ModelAnswer
from regard.serving.served import Reads, Served


class Oracle(Served):
    """A model that can do what it is told it can, and gives riddles."""

    gives = "riddles"

    def __init__(self, name: str, can: Sequence[str] = ("prophesy", "be silent"), reads: Reads = "prompt") -> None:
        self.name, self._can, self.reads = name, can, reads

    @property
    def can(self) -> Sequence[str]:
        return self._can

    def describe(self) -> ModelAnswer:
        return ModelAnswer(
            name=self.name,
            task="oracles",
            reads=self.reads,
            family="oracle",
            preset=None,
            can=list(self.can),
            scores=[],
        )


class Parity(Oracle):
    """Says of a node whether its number is even, of a picture whether its bytes are an even number, of a text likewise.

    With a gate it halts in every batch till that is open.
    """

    def __init__(self, reads: Reads = "nodes", gate: threading.Event | None = None) -> None:
        super().__init__("parity", ["answer"], reads)
        self.gate, self.begun, self.batches = gate, threading.Event(), list[list[Any]]()

    def answer(self, inputs: Sequence[Any]) -> list[Answer]:
        self.batches.append(list(inputs))
        self.begun.set()
        if self.gate is not None:
            assert self.gate.wait(20)
        return [self._answer(self._number(each)) for each in inputs]

    def _number(self, given: Any) -> int:
        if isinstance(given, Path):
            if not (size := given.stat().st_size):
                raise Fault(f"{given} is empty.")
            return size
        return int(given) if self.reads == "nodes" else len(given)

    def _answer(self, number: int) -> Answer:
        names = ("even", "odd")
        return Answer(names[number % 2], 0.75, {names[number % 2]: 0.75, names[1 - number % 2]: 0.25})
