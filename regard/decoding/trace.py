"""The record of a beam search: every hypothesis that it kept, and what each continues.

A search that is handed a trace tells it at every step what was finished and what lives on. It finds just the same, and
a search without one does nothing for it.
"""

from dataclasses import dataclass

from torch import Tensor

from regard.decoding.options import DecodingOptions
from regard.decoding.output import Hypothesis
from regard.decoding.rules import NOTHING


@dataclass(frozen=True)
class KeptHypothesis:
    """A hypothesis that was alive after some step, or finished in it, by the last of its tokens."""

    parent: int | None  # the place in the record of what it continues; none for the first token of an output
    token: int
    group: int  # of the beam; 0 in a beam without groups
    log_probability: float  # of the token, the model's own
    total: float  # the sum of all that was ranked by
    finished: Hypothesis | None = None  # what the search made of it, where the token is the end


class Trace:
    """Record of a search, sentence by sentence in batch order; parents stand before their children."""

    def __init__(self) -> None:
        self.sentences: list[list[KeptHypothesis]] = []
        self._beams: list[list[int | None]] = []  # of each sentence, where in the record the rows of its beam stand
        self._width = 1  # of a group

    def begin(self, sentences: int, options: DecodingOptions) -> None:
        """A search begins; whatever was recorded before is forgotten."""
        self.sentences = [[] for _ in range(sentences)]
        self._beams = [[None] * options.beam for _ in range(sentences)]
        self._width = options.beam // options.groups

    def finish(self, sentence: int, row: int, end: int, total: float, hypothesis: Hypothesis) -> None:
        """A row of the beam was finished; to be told before the beam lives on."""
        parent, own = self._beams[sentence][row], hypothesis.token_scores[-1]
        self.sentences[sentence].append(KeptHypothesis(parent, end, row // self._width, own, total, hypothesis))

    def live_on(self, numbers: Tensor, origins: Tensor, tokens: Tensor, totals: Tensor, own: Tensor) -> None:
        """The beams of the sentences of these numbers (sentence) go on with these rows (sentence, beam)."""
        tables = (table.tolist() for table in (numbers, origins, tokens, totals, own))
        for number, *rows in zip(*tables, strict=True):
            record, before = self.sentences[number], self._beams[number]
            after: list[int | None] = []
            for row, (origin, token, total, log_probability) in enumerate(zip(*rows, strict=True)):
                if total == NOTHING:  # nobody lives in this row
                    after.append(None)
                    continue
                after.append(len(record))
                record.append(KeptHypothesis(before[origin], token, row // self._width, log_probability, total))
            self._beams[number] = after
