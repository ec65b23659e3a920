"""Refusals: a status, a sentence, and when to try again."""

import math
from typing import Any, TypeVar

from regard.base.faults import Fault
from regard.base.requests.rules import VerbRequest

Kind = TypeVar("Kind", bound=VerbRequest)


class Refusal(Exception):
    """A refusal: its status, its sentence, and after how many seconds to try again."""

    def __init__(self, status: int, sentence: str, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(max(1, math.ceil(self.retry_after)))}


def read_request(kind: type[Kind], table: dict[str, Any]) -> Kind:
    """Read a request from a table; refuse it with everything that is wrong with it."""
    try:
        return kind.read(table)
    except Fault as fault:
        sentences = "; ".join(fault.sentences)
        raise Refusal(400, f"Invalid request: {sentences}{'' if sentences.endswith(('?', '.')) else '.'}") from None
