"""Names of the recurrent cells; without torch, so that options load quickly."""

from typing import Literal

CellName = Literal["vanilla", "lstm", "gru", "logistic", "gru-reset-first"]
