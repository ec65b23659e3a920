"""Records of a fixed-shape beam search, step by step, from which outputs are read at the end.

A record (sentence, beam, 7) describes one step. For each survivor: the row it came from, its token and the model's
log-probability of it. For each candidate that may have ended: the row it came from, the log-probability of the end and
its score, -inf where nothing ended. And the score of each survivor that was cut, -inf where none was. Rows and tokens
are integers, which float64 holds exactly.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.decoding.choosing import NOTHING
from regard.decoding.output import Hypothesis

ORIGIN, TOKEN, OWN, ENDED_ORIGIN, ENDED_OWN, SCORE, CUT = range(7)


def record_of(
    origin: Tensor,
    token: Tensor,
    token_score: Tensor,
    ended_origin: Tensor,
    end_score: Tensor,
    score: Tensor,
    cut: Tensor,
) -> Tensor:
    """Return the record of one step, from tables (sentence, beam)."""
    return torch.stack(
        [table.double() for table in (origin, token, token_score, ended_origin, end_score, score, cut)], dim=2
    )


class Records:
    """The records of one search, in order of time."""

    def __init__(self, sentences: int, beam: int) -> None:
        self._shape = sentences, beam
        self._stretches: list[tuple[Tensor, list[int]]] = []

    def add(self, records: list[Tensor], numbers: list[int]) -> None:
        """Add the records of some steps, copied to the host; their first places are the sentences of these numbers."""
        self._stretches.append((torch.stack(records).cpu(), numbers))

    def best(self, count: int) -> "Best":
        """Return the best finished outputs of each sentence, best first, with the earlier one first among equals."""
        story = self._story()
        (sentences, beam), times = self._shape, len(story)
        # In each step those that ended come before those that were cut: (sentence, time, kind, beam).
        by_kind = story[..., [SCORE, CUT]].unflatten(1, self._shape).permute(1, 0, 3, 2).flatten(1)
        scores, places = (table[:, :count] for table in by_kind.sort(dim=1, descending=True, stable=True))
        time, row, has_ended = places // (2 * beam), places % beam, places // beam % 2 == 0
        first = (torch.arange(sentences) * beam)[:, None].expand_as(places)  # first row of each sentence
        ends = story[time, first + row]
        lengths = torch.where(has_ended, time, time + 1)  # without the end
        rows, steps = (first + torch.where(has_ended, ends[..., ENDED_ORIGIN].long(), row)).flatten(), []
        for earlier in range(times - 1, -1, -1):
            step = story[earlier].index_select(0, rows)
            steps.append(step)
            before = (first + step[:, ORIGIN].long().view_as(first)).flatten()
            rows = torch.where((earlier < lengths).flatten(), before, rows)
        written = torch.stack(steps[::-1], dim=1).unflatten(0, places.shape)
        token_scores, last = written[..., OWN], ends[..., ENDED_OWN]
        return Best(written[..., TOKEN].long(), token_scores, last, scores, lengths, has_ended)

    def _story(self) -> Tensor:
        """Return all records, (time, row, 7), with places for all sentences of the batch."""
        parts = []
        for records, numbers in self._stretches:
            # Sentences that were done before take no part in this stretch: nothing of theirs ended.
            whole = torch.zeros(len(records), *self._shape, 7, dtype=torch.float64)
            whole[..., [SCORE, CUT]] = NOTHING
            whole[:, numbers] = records[:, : len(numbers)]
            parts.append(whole)
        return torch.cat(parts).flatten(1, 2)


class Best(NamedTuple):
    """The best outputs of all sentences, as tables."""

    tokens: Tensor  # (sentence, rank, time), of which the first `lengths` are valid
    token_scores: Tensor  # (sentence, rank, time)
    end_scores: Tensor  # (sentence, rank)
    scores: Tensor  # (sentence, rank), -inf where no more have ended
    lengths: Tensor  # (sentence, rank), without ends
    has_ended: Tensor  # (sentence, rank), False where an output was cut

    def hypotheses(self, part: slice = slice(None)) -> list[list[Hypothesis]]:
        """Return the hypotheses of some sentences."""
        return [
            [
                Hypothesis(tokens[:length], [*logs[:length], last] if has_ended else logs[:length], score)
                for tokens, logs, last, score, length, has_ended in zip(*outputs, strict=True)
                if score != NOTHING
            ]
            for outputs in zip(*(table[part].tolist() for table in self), strict=True)
        ]
