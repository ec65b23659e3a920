"""Names of the recurrent cells that recipes know; no torch, so that options can be read without it."""

from typing import Literal

CellName = Literal["vanilla", "lstm", "gru", "logistic", "gru-reset-first"]
