"""Records of a fixed-shape beam search, step by step, from which outputs are read when it is over.

A record (sentence, beam, 7) is of one step: of each survivor the row it came from, its token and the model's
log-probability of it; of each candidate that may have ended the row it came from, the log-probability of the end and
its score, which is -inf where nothing ended; and the score of each survivor that was cut, -inf where none was. Rows and
tokens are whole numbers, which float64 holds exactly.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.decoding.choosing import NOTHING
from regard.decoding.output import Hypothesis

ORIGIN, TOKEN, OWN, ENDED_ORIGIN, ENDED_OWN, SCORE, CUT = range(7)


def record_of(
    origin: Tensor, token: Tensor, own: Tensor, ended_origin: Tensor, ended_own: Tensor, score: Tensor, cut: Tensor
) -> Tensor:
    """The record of one step, from tables (sentence, beam)."""
    return torch.stack([each.double() for each in (origin, token, own, ended_origin, ended_own, score, cut)], dim=2)


class Records:
    """The records of one search, in the order of time."""

    def __init__(self, sentences: int, beam: int) -> None:
        self._shape = sentences, beam
        self._stretches: list[tuple[Tensor, list[int]]] = []

    def add(self, records: list[Tensor], numbers: list[int]) -> None:
        """The records of some steps, whose first places are the sentences of these numbers; they are brought here."""
        self._stretches.append((torch.stack(records).cpu(), numbers))

    def best(self, count: int) -> "Best":
        """The best that were finished for each sentence, best first, of equals the earlier found first."""
        story = self._story()
        (sentences, beam), times = self._shape, len(story)
        # In each step those that ended come before those that were cut: (sentence, time, kind, beam).
        by_kind = story[..., [SCORE, CUT]].unflatten(1, self._shape).permute(1, 0, 3, 2).flatten(1)
        scores, found = (each[:, :count] for each in by_kind.sort(dim=1, descending=True, stable=True))
        time, row, has_ended = found // (2 * beam), found % beam, found // beam % 2 == 0
        first = (torch.arange(sentences) * beam)[:, None].expand_as(found)  # of the rows of each one's sentence
        ends = story[time, first + row]
        lengths = torch.where(has_ended, time, time + 1)  # without the end
        rows, steps = (first + torch.where(has_ended, ends[..., ENDED_ORIGIN].long(), row)).flatten(), []
        for earlier in range(times - 1, -1, -1):
            here = story[earlier].index_select(0, rows)
            steps.append(here)
            before = (first + here[:, ORIGIN].long().view_as(first)).flatten()
            rows = torch.where((earlier < lengths).flatten(), before, rows)
        written = torch.stack(steps[::-1], dim=1).unflatten(0, found.shape)
        own, last = written[..., OWN], ends[..., ENDED_OWN]
        return Best(written[..., TOKEN].long(), own, last, scores, lengths, has_ended)

    def _story(self) -> Tensor:
        """All records, (time, row, 7), in places for all sentences of the batch."""
        parts = []
        for records, numbers in self._stretches:
            # Sentences that were done before have no part in this stretch: nothing of theirs ended.
            whole = torch.zeros(len(records), *self._shape, 7, dtype=torch.float64)
            whole[..., [SCORE, CUT]] = NOTHING
            whole[:, numbers] = records[:, : len(numbers)]
            parts.append(whole)
        return torch.cat(parts).flatten(1, 2)


class Best(NamedTuple):
    """The best outputs of each sentence, as tables of all of them."""

    tokens: Tensor  # (sentence, rank, time), of which the first `lengths` are written
    token_scores: Tensor  # (sentence, rank, time)
    end_scores: Tensor  # (sentence, rank)
    scores: Tensor  # (sentence, rank), -inf where no more have ended
    lengths: Tensor  # (sentence, rank), ends not counted
    has_ended: Tensor  # (sentence, rank), False where an output was cut

    def hypotheses(self, part: slice = slice(None)) -> list[list[Hypothesis]]:
        """Those of some sentences, one by one."""
        return [
            [
                Hypothesis(tokens[:length], [*own[:length], last] if has_ended else own[:length], score)
                for tokens, own, last, score, length, has_ended in zip(*outputs, strict=True)
                if score != NOTHING
            ]
            for outputs in zip(*(table[part].tolist() for table in self), strict=True)
        ]
