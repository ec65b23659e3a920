"""Refusals: a status, one sentence, and when to try again."""

import math
from typing import Any, TypeVar

from regard.base.faults import Fault
from regard.base.requests.rules import VerbRequest

Kind = TypeVar("Kind", bound=VerbRequest)


class Refusal(Exception):
    """An answer that is a refusal: its status, its sentence, and the seconds after which it may be another."""

    def __init__(self, status: int, sentence: str, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(max(1, math.ceil(self.retry_after)))}


def read_request(kind: type[Kind], table: dict[str, Any]) -> Kind:
    """Read a request from a table, or refuse with everything that is wrong with it."""
    try:
        return kind.read(table)
    except Fault as fault:
        said = "; ".join(fault.sentences)
        raise Refusal(400, f"Invalid request: {said}{'' if said.endswith(('?', '.')) else '.'}") from None
