"""Questions to models that transcribe: which frames of a sound, or columns of a line, made it write this label?"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import isfinite
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.models.log_mel import standardise
from regard.models.transcriber import as_labels, count_stacked
from regard.seeing.gazes import see_answer, see_sound
from regard.seeing.why.decision import Question, chosen_places, name_chosen, name_of_file, units_left
from regard.viewing.sides import Words


def ask_sound(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a sound is transcribed with a label; units are the frames that the network reads."""
    task = model.task
    batch = task.read([item])
    counts = task.features.frame_counts(batch.lengths)
    frames = standardise(task.features(batch.samples), counts).to(task.model.dtype)
    labels = None if output is None else _labels(task.alphabet.symbols, task.alphabet.cut(output))
    decision = _Decision(task.model, frames, counts, task.alphabet.symbols, labels, place, word)
    decision.refuse_misfit("sound", "frames")
    return replace(
        decision.question([f"{number * task.frame_seconds:.2f} s" for number in range(decision.units)]),
        side=task.sides(batch, [])["source"],
        text=name_of_file(item, "The sound"),
        output=task.alphabet.join(decision.written),
        see=partial(see_sound, task, item) if output is None else None,
    )


def ask_line(model: Loaded, item: Any, output: str | None, place: int | None, word: str | None = None) -> Question:
    """Return the question why a line of writing is read with a sign; units are the columns that the network reads."""
    task = model.task
    batch = task.read([item])
    labels = None if output is None else _labels(task.labels.classes, list(output))
    frames = batch.columns(task.model.dtype)
    decision = _Decision(task.model, frames, batch.widths, task.labels.classes, labels, place, word)
    decision.refuse_misfit("line", "columns")
    return replace(
        decision.question([f"column {number + 1}" for number in range(decision.units)]),
        side=task.sides(batch, [])["source"],
        text=name_of_file(item, "The line"),
        output="".join(decision.written),
        see=partial(see_answer, task, item) if output is None else None,
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

    def question(self, names: Sequence[str]) -> Question:
        """Return the question about this label, for units of these names."""
        baseline = torch.zeros_like(self.inputs)
        return Question(
            names,
            self.chosen,
            self.inputs,
            baseline,
            self.log_probability,
            self.without,
            queries=(self.where,),
            choices=self.choices,
            explained=(self.where,),
        )

    def refuse_misfit(self, input_name: str, frames_name: str) -> None:
        """Refuse labels that do not fit into the frames of this input, of which equal ones need one between them."""
        needed = len(self.labels) + sum(first == second for first, second in pairwise(self.labels))
        if self.network.NEEDS_FRAMES and needed > self.units:
            raise Fault(
                f"The output has {len(self.labels)} symbols and needs {needed} {frames_name}, but the {input_name} has "
                f"{self.units}; give a shorter output."
            )

    def log_probability(self, vectors: Tensor) -> Tensor:
        return self._score(vectors, self.time)

    @torch.no_grad()
    def without(self, units: Sequence[int]) -> float:
        """Return the log-probability of the label if these units are cut out and the others move together."""
        kept = units_left(units, self.units)
        has_last = kept[-1] == self.units - 1  # its stack may be incomplete
        time = len(kept) * self.stack - (self.units * self.stack - self.time if has_last else 0)
        score = float(self._score(self.inputs[None, kept], time))
        if not isfinite(score):
            raise Fault(f"Without these units the input is too short for its {len(self.labels)} labels; use occlusion.")
        return score

    def _score(self, vectors: Tensor, time: int) -> Tensor:
        """Return the log-probability of the label for stacked frames (copies, unit, depth), `time` frames in all."""
        copies = len(vectors)
        frames = vectors.unflatten(2, (self.stack, -1)).flatten(1, 2)[:, :time]
        heard = self.network.hear(frames, torch.full_like(self.counts, time).expand(copies))
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
