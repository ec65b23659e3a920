"""Search for the most probable labelling of CTC, frame by frame, optionally with a language model.

A path search would follow single alignments; here hypotheses are prefixes of labellings, and each holds the sum over
all its alignments so far (Graves et al. 2006, section 3.2, as a beam: Hannun et al. 2014, algorithm 1):

    p_blank(l, t)  of alignments that end in a blank,    p_label(l, t)  of those that end in the last label of l

With a language model the prefixes are ranked by log p(l | x) + weight · log p_LM(l).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from regard.base.pauses import between_steps

Prefix = tuple[int, ...]
NEVER = -math.inf


class NextLabels(Protocol):
    """A language model over labels: log p of each label after a prefix, with the end last."""

    def after(self, prefix: Prefix) -> Sequence[float]: ...


class Found(NamedTuple):
    """A labelling, its log p as far as the search has summed it, and the language model's, unweighted."""

    labels: Prefix
    score: float
    language_score: float


@dataclass
class _Sums:
    """log p of the alignments of a prefix that end in a blank, and of those that end in its last label."""

    blank: float = NEVER
    label: float = NEVER

    @property
    def both(self) -> float:
        return _log_add(self.blank, self.label)


@dataclass
class _LanguageScores:
    """A language model's scores of whole prefixes, each computed once."""

    model: NextLabels | None
    weight: float
    known: dict[Prefix, float] = field(default_factory=lambda: {(): 0.0})

    def of(self, prefix: Prefix) -> float:
        if self.model is None:
            return 0.0
        if prefix not in self.known:
            self.known[prefix] = self.of(prefix[:-1]) + self.model.after(prefix[:-1])[prefix[-1]]
        return self.known[prefix]

    def with_end(self, prefix: Prefix) -> float:
        return 0.0 if self.model is None else self.of(prefix) + self.model.after(prefix)[-1]


def prefix_beam(
    frames: Sequence[Sequence[float]], beam: int, language_model: NextLabels | None = None, weight: float = 0.0
) -> list[Found]:
    """Return the best labellings of one row of log-probabilities (frame, symbol), the blank last; best first."""
    language, blank = _LanguageScores(language_model, weight), len(frames[0]) - 1
    alive: dict[Prefix, _Sums] = {(): _Sums(blank=0.0)}
    for row in frames:
        between_steps()
        after: dict[Prefix, _Sums] = {}
        for prefix, sums in alive.items():
            same = after.setdefault(prefix, _Sums())
            both = sums.both
            same.blank = _log_add(same.blank, both + row[blank])
            if prefix:  # the last label continues
                same.label = _log_add(same.label, sums.label + row[prefix[-1]])
            for label in range(blank):
                # A repeated label needs a blank in between.
                before = sums.blank if prefix and label == prefix[-1] else both
                if before > NEVER and row[label] > NEVER:
                    longer = after.setdefault((*prefix, label), _Sums())
                    longer.label = _log_add(longer.label, before + row[label])
        alive = _best(after, beam, language)
    labellings = [Found(prefix, sums.both, language.with_end(prefix)) for prefix, sums in alive.items()]
    return sorted(labellings, key=lambda labelling: -(labelling.score + weight * labelling.language_score))


def _best(prefixes: Mapping[Prefix, _Sums], beam: int, language: _LanguageScores) -> dict[Prefix, _Sums]:
    """Return the prefixes that rank highest."""
    plain = {prefix: sums.both for prefix, sums in prefixes.items()}
    ranked = sorted(plain, key=lambda prefix: -(plain[prefix] + language.weight * language.of(prefix)))
    return {prefix: prefixes[prefix] for prefix in ranked[:beam] if plain[prefix] > NEVER}


def _log_add(one: float, other: float) -> float:
    """Return log(e^one + e^other)."""
    if one < other:
        one, other = other, one
    return one if other == NEVER else one + math.log1p(math.exp(other - one))
