"""Models without weights and torch, with answers that can be checked by hand."""

import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from regard.base.faults import Fault
from regard.base.requests.fields import Held
from regard.base.requests.rules import VerbRequest
from regard.protocols import Answer, Tags
from regard.serving.records import ModelAnswer
from regard.serving.served import Reads, Served
from regard.verbs.answer.door import AnswerBody


class Oracle(Served):
    """Model with the abilities it is given; it answers with riddles."""

    gives, verb = "riddles", "prophesy"

    def __init__(self, name: str, can: Sequence[str] = ("prophesy", "be silent"), reads: Reads = "prompt") -> None:
        self.name, self._can, self.reads = name, can, reads

    @property
    def model(self) -> Any:
        return SimpleNamespace(task=None)

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
    """Returns whether a node's number, or the number of bytes of a picture or text, is even.

    For a sentence it answers for each word, or each letter if raw. With a gate it halts in every batch until that is
    open.
    """

    def __init__(self, reads: Reads = "nodes", gate: threading.Event | None = None) -> None:
        super().__init__("parity", ["answer"], reads)
        self.gate, self.begun, self.batches = gate, threading.Event(), list[list[Any]]()

    def ask(self, request: VerbRequest, **more: Any) -> list[Answer | Tags]:
        assert isinstance(request, AnswerBody)
        inputs = [item.content for item in request.inputs if isinstance(item, Held)]
        self.batches.append(inputs)
        self.begun.set()
        if self.gate is not None:
            assert self.gate.wait(20)
        if self.reads == "tokens":
            return [self._tags(list(sentence) if request.raw else sentence.split()) for sentence in inputs]
        return [self._answer(self._number(item)) for item in inputs]

    def _tags(self, words: list[str]) -> Tags:
        tags = [self._answer(len(word)).answer for word in words]
        return Tags(words, tags, [0.75] * len(words), 0.75 ** len(words), [("words", 0, len(words))])

    def _number(self, given: Any) -> int:
        if isinstance(given, Path):
            if not (size := given.stat().st_size):
                raise Fault(f"{given} is empty.")
            return size
        return int(given) if self.reads == "nodes" else len(given)

    def _answer(self, number: int) -> Answer:
        names = ("even", "odd")
        return Answer(names[number % 2], 0.75, {names[number % 2]: 0.75, names[1 - number % 2]: 0.25})
