"""Trace of a beam search: every hypothesis that it kept, and what each continues.

A search with a trace tells it at every step what was finished and what lives on. The results are the same, and a search
without a trace does no extra work.
"""

from dataclasses import dataclass

from torch import Tensor

from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.rules import NOTHING


@dataclass(frozen=True)
class KeptHypothesis:
    """A hypothesis that was alive after a step, or finished in it, by its last token."""

    parent: int | None  # place in the record of the hypothesis it continues; None for the first token of an output
    token: int
    group: int  # of the beam; 0 in a beam without groups
    log_probability: float  # of the token, the model's own
    total: float  # the sum of the values used for ranking
    finished: Hypothesis | None = None  # the search's result, if the token is the end


class Trace:
    """Record of a search, sentence by sentence in batch order; parents come before their children."""

    def __init__(self) -> None:
        self.sentences: list[list[KeptHypothesis]] = []
        self._beams: list[list[int | None]] = []  # for each sentence, the place in the record of each row of its beam
        self._width = 1  # of a group

    def begin(self, sentences: int, options: DecodingOptions) -> None:
        """Start recording a search, and forget earlier records."""
        self.sentences = [[] for _ in range(sentences)]
        self._beams = [[None] * options.beam for _ in range(sentences)]
        self._width = options.beam // options.groups

    def finish(self, sentence: int, row: int, end: int, total: float, hypothesis: Hypothesis) -> None:
        """Record that a row of the beam was finished; call it before `live_on`."""
        parent, log_probability = self._beams[sentence][row], hypothesis.token_scores[-1]
        self.sentences[sentence].append(
            KeptHypothesis(parent, end, row // self._width, log_probability, total, hypothesis)
        )

    def live_on(
        self, numbers: Tensor, origins: Tensor, tokens: Tensor, totals: Tensor, log_probabilities: Tensor
    ) -> None:
        """Record that the beams of the sentences `numbers` (sentence) continue with these rows (sentence, beam)."""
        tables = (table.tolist() for table in (numbers, origins, tokens, totals, log_probabilities))
        for number, *rows in zip(*tables, strict=True):
            record, before = self.sentences[number], self._beams[number]
            after: list[int | None] = []
            for row, (origin, token, total, log_probability) in enumerate(zip(*rows, strict=True)):
                if total == NOTHING:  # this row is dead
                    after.append(None)
                    continue
                after.append(len(record))
                record.append(KeptHypothesis(before[origin], token, row // self._width, log_probability, total))
            self._beams[number] = after
