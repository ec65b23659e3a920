"""Questions to models that transcribe: which frames of a sound, or columns of a line, made it write this label?"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.log_mel import standardise
from regard.models.transcriber import as_labels, count_stacked
from regard.seeing.gazes import see_answer, see_sound
from regard.seeing.why.decision import Question, chosen_places, name_chosen, name_of_file
from regard.viewing.sides import Words


def ask_sound(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a sound is transcribed with a label; units are the frames that the network reads."""
    task = model.task
    batch = task.read([item])
    counts = task.features.frame_counts(batch.lengths)
    frames = standardise(task.features(batch.samples), counts).to(task.model.dtype)
    labels = None if output is None else _labels(task.alphabet.symbols, task.alphabet.cut(output))
    decision = _Decision(task.model, frames, counts, task.alphabet.symbols, labels, place, word)
    names = [f"{number * task.frame_seconds:.2f} s" for number in range(decision.units)]
    return Question(
        names,
        decision.chosen,
        decision.inputs,
        torch.zeros_like(decision.inputs),
        decision.log_probability,
        None,
        task.sides(batch, [])["source"],
        name_of_file(item, "The sound"),
        task.alphabet.join(decision.written),
        partial(see_sound, task, item) if output is None else None,
        (decision.where,),
        choices=decision.choices,
        explained=(decision.where,),
    )


def ask_line(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a line of writing is read with a sign; units are the columns that the network reads."""
    task = model.task
    batch = task.read([item])
    labels = None if output is None else _labels(task.labels.classes, list(output))
    frames = batch.columns(task.model.dtype)
    decision = _Decision(task.model, frames, batch.widths, task.labels.classes, labels, place, word)
    return Question(
        [f"column {number + 1}" for number in range(decision.units)],
        decision.chosen,
        decision.inputs,
        torch.zeros_like(decision.inputs),
        decision.log_probability,
        None,
        task.sides(batch, [])["source"],
        name_of_file(item, "The line"),
        "".join(decision.written),
        partial(see_answer, task, item) if output is None else None,
        (decision.where,),
        choices=decision.choices,
        explained=(decision.where,),
    )


class _Decision:
    """A label that a network writes at a place of its labelling.

    Its log-probability is that of the label among all labels at its place, given the others: log p(l | x) − log Σ_s
    p(l with s in this place | x), where each p is a sum over alignments.
    """

    def __init__(
        self,
        network: Any,
        frames: Tensor,
        counts: Tensor,
        symbols: Sequence[str],
        labels: list[int] | None,
        place: int | None,
        word: str | None,
    ) -> None:
        self.network, self.counts, self.symbols = network, counts, symbols
        frames = frames[:, : int(counts[0])]
        if labels is None:
            with torch.no_grad():
                (labels,) = network.best(network.hear(frames, counts))
        if not labels:
            raise Fault("The model writes nothing for this input, so there is no label to explain; give an output.")
        self.labels, self.written = list(labels), [symbols[label] for label in labels]
        target = Words([*self.written, ""], [*self.written, ""], range(len(labels) + 1))
        (self.where, *_) = chosen_places(target, place, word)
        if self.where >= len(labels):
            raise Fault(f"The transcript has {len(labels)} labels, so there is no label number {self.where + 1}.")
        self.chosen = name_chosen(target, [self.where], word)
        self.choices = Words(self.written, self.written, range(len(labels)))
        self.stack, self.time = network.options.stack, frames.shape[1]
        self.units = int(count_stacked(counts, self.stack)[0])
        whole = F.pad(frames, (0, 0, 0, self.units * self.stack - self.time))
        self.inputs = whole.unflatten(1, (self.units, self.stack)).flatten(2)[0]

    def log_probability(self, vectors: Tensor) -> Tensor:
        copies = len(vectors)
        frames = vectors.unflatten(2, (self.stack, -1)).flatten(1, 2)[:, : self.time]
        heard = self.network.hear(frames, self.counts.expand(copies))
        scores = []
        for symbol in range(len(self.symbols)):
            others = [*self.labels[: self.where], symbol, *self.labels[self.where + 1 :]]
            scores.append(self.network.score(heard, *as_labels([others] * copies, vectors.device)))
        return torch.stack(scores, dim=1).log_softmax(1)[:, self.labels[self.where]]


def _labels(symbols: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the numbers of symbols; refuse one that the model does not have."""
    for name in names:
        if name not in symbols:
            raise Fault(f"The model has no symbol '{name[:20]}'; its symbols are {' '.join(symbols)}.")
    return [list(symbols).index(name) for name in names]
