"""Models that are tables, so that the right search result can be looked up."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.protocols import State

BEGIN, END = 0, 1


@dataclass
class Table:
    """Table model: log-probabilities (sentence, time, last token, token); times beyond the last repeat."""

    table: Tensor
    begin: int = BEGIN
    end: int = END

    def start(self, batch: Tensor) -> State:
        return State(sentence={"numbers": batch}, row={"time": torch.zeros_like(batch)})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        numbers, time = state.sentence["numbers"], state.row["time"]
        sentence_rows = numbers.repeat_interleave(len(tokens) // len(numbers))
        rows = self.table[sentence_rows, time.clamp(max=self.table.shape[1] - 1), tokens]
        return rows, State(state.sentence, {"time": time + 1})


@dataclass
class Looking(Table):
    """Table that also attends: at each time its last token looks somewhere in a source of three places."""

    def start(self, batch: Tensor) -> State:
        seen = torch.zeros(len(batch), 3, dtype=torch.float64)
        return State(sentence={"numbers": batch}, row={"time": torch.zeros_like(batch), "seen": seen})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        rows, after = super().step(tokens, state)
        look = torch.full((len(tokens), 3), 0.1, dtype=torch.float64).scatter(1, (tokens % 3)[:, None], 0.8)
        return rows, State(after.sentence, {**after.row, "seen": state.row["seen"] + look})

    def coverage(self, state: State) -> Tensor:
        return state.row["seen"]


def random_table(seed: int, sentences: int, vocabulary: int, ties: bool = False) -> Table:
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(sentences, 4, vocabulary, vocabulary, generator=generator, dtype=torch.float64)
    if ties:  # few values, so that many candidates tie
        logits = logits.round()
    return Table(logits.log_softmax(-1))


def fixed(*probabilities: float) -> Table:
    """Return a one-sentence model whose next token always has these probabilities."""
    row = torch.tensor(probabilities, dtype=torch.float64).log()
    return Table(row.expand(1, 1, len(probabilities), len(probabilities)))
