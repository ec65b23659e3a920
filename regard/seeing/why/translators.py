"""Questions to translators: which source tokens made it write this token?"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.seeing.sentences import Translator, see_tokens
from regard.seeing.why.decision import Question, chosen_places, name_chosen, units_left
from regard.seeing.why.entrance import Entrance
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.lengths import check_length, target_tokens
from regard.viewing.sides import Words


def ask_translator(
    model: Translator, text: str, output: str | Sequence[int] | None, place: int | None, word: str | None = None
) -> Question:
    """Return the question why a translator wrote a token of `output`, a text or its tokens, or of its best output."""
    if not (text := text.strip()):
        raise Fault("There is no text to read; give a sentence.")
    task = model.task
    check_length(task, text, 0)
    target = task.target_for(text)
    if isinstance(output, str):
        written = target_tokens(task, output, "output", target)
    else:
        written = model.search_tokens(text) if output is None else list(output)
    sides = task.sides(task.read([text]), [written], text)
    source_side, target_side = sides["source"], sides["target"]
    assert isinstance(source_side, Words)
    assert isinstance(target_side, Words)
    places = chosen_places(target_side, place, word)
    source = [*task.encode_sources([text])[0], task.source.end]
    decision = _Decision(model, source, written, places)
    inputs = decision.entrance.vectors(lambda: decision.scores(decision.batch(1)))[0]
    return Question(
        source_side.tokens,
        name_chosen(target_side, places, word),
        inputs,
        torch.zeros_like(inputs),
        decision.log_probability,
        decision.without,
        source_side,
        text,
        target.decode(written),
        lambda: see_tokens(model, text, written),
        places,
        read=text,
        written=written,
        choices=target_side,
        explained=places,
    )


class _Decision:
    """A translator that writes the tokens at some places of an output."""

    def __init__(self, model: Translator, source: Sequence[int], written: Sequence[int], places: Sequence[int]) -> None:
        self.task, self.source, self.written, self.places = model.task, source, written, places
        self.entrance = Entrance(model.task.model.embeddings()["source"])

    def batch(self, copies: int, source: Sequence[int] | None = None) -> PairBatch:
        """Return the pair as a batch of equal rows; `source` replaces the source tokens."""
        task, read = self.task, np.array([self.source if source is None else source] * copies, np.int64)
        wrote = np.array([[*self.written, task.end]] * copies, np.int64)
        lengths = [torch.full((copies,), table.shape[1]) for table in (read, wrote)]
        pairs = PairBatch.of(
            torch.from_numpy(read), lengths[0], torch.from_numpy(wrote), lengths[1], task.begin, task.known
        )
        return pairs.to(task.device)

    def scores(self, batch: PairBatch) -> Tensor:
        """Return the log-probability of the tokens at the places, summed, for each row."""
        log_probabilities, targets = self.task.forced_log_probabilities(batch)
        scores = log_probabilities.gather(1, targets[:, None]).reshape(batch.rows, -1)
        return scores[:, list(self.places)].sum(1)

    def log_probability(self, vectors: Tensor) -> Tensor:
        with self.entrance.entering(vectors):
            return self.scores(self.batch(len(vectors)))

    @torch.no_grad()
    def without(self, units: Sequence[int]) -> float:
        kept = [self.source[place] for place in units_left(units, len(self.source))]
        return float(self.scores(self.batch(1, kept)))
