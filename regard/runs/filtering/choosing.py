"""Which pairs to keep, given their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from regard.base.faults import Fault
from regard.runs.filtering.criteria import LIKELY

EMPTY, UNSCORED, RANK = "empty", "too long to score", "rank"


@dataclass(frozen=True)
class Rule:
    """Least scores by criterion, and the share of the pairs to keep by the rank of their scores."""

    at_least: Mapping[str, float] = field(default_factory=dict)
    keep: float | None = None

    @classmethod
    def read(cls, names: Sequence[str], at_least: Sequence[str], keep: float | None, only_scores: bool) -> "Rule":
        """Return the rule that the options of a command make for these criteria; refuse what does not fit them."""
        scored = [name for name in names if name != "languages"]
        limits = {"languages": LIKELY} if "languages" in names else {}
        for text in at_least:
            name, _, value = text.rpartition("=")
            if not name and len(scored or names) > 1:
                raise Fault(f"--at-least {text} could mean several scores; name one, as in {scored[0]}={text}.")
            name = name or (scored or list(names))[0]
            if name not in names:
                raise Fault(f"--at-least {text} names no score that is computed here: {', '.join(names)}.")
            try:
                limits[name] = float(value)
            except ValueError:
                raise Fault(f"--at-least is '{text}', expected a number, as in --at-least -2.5.") from None
        if keep is not None and not scored:
            others = "--model, --language-model or --vectors"
            raise Fault(f"--keep ranks pairs by scores, and --languages only drops; give {others} too.")
        if keep is not None and not 0 < keep <= 1:
            raise Fault(f"--keep is {keep:g}, expected a share above 0 and up to 1, such as 0.8.")
        if keep is None and not only_scores and (idle := [name for name in scored if name not in limits]):
            raise Fault(f"--{idle[0]} gives each pair a score; say which to keep with --keep 0.8 or --at-least.")
        return cls(limits, keep)


@dataclass(frozen=True)
class Chosen:
    """The fate of every pair: None if kept, otherwise the number of the reason to drop it."""

    reasons: list[str]
    fates: np.ndarray  # int8: -1 if kept, otherwise the place of the reason
    rank: np.ndarray  # mean rank over the scores, from 0 (worst) to 1; what --keep goes by

    @property
    def kept(self) -> np.ndarray:
        return np.asarray(self.fates < 0)

    def counts(self) -> dict[str, int]:
        """Return the number of pairs dropped for each reason; a pair counts for the first."""
        return {reason: int((self.fates == number).sum()) for number, reason in enumerate(self.reasons)}


def choose(scores: Mapping[str, np.ndarray], is_empty: np.ndarray, rule: Rule) -> Chosen:
    """Return which pairs are dropped and why: empty ones, unscored ones, those below a limit, then the worst ranks."""
    reasons = [EMPTY, UNSCORED, *scores, RANK]
    fates = np.full(len(is_empty), -1, np.int8)

    def drop(where: np.ndarray, reason: str) -> None:
        fates[where & (fates < 0)] = reasons.index(reason)

    drop(is_empty, EMPTY)
    for name, values in scores.items():
        drop(np.isneginf(values), UNSCORED)
        if name in rule.at_least:
            drop(values < rule.at_least[name], name)
    rank = _mean_rank([values for name, values in scores.items() if name != "languages"] or list(scores.values()))
    if rule.keep is not None:
        left = np.flatnonzero(fates < 0)
        surplus = max(0, len(left) - round(rule.keep * len(fates)))
        worst = left[np.argsort(rank[left], kind="stable")[:surplus]]
        fates[worst] = reasons.index(RANK)
    return Chosen(reasons, fates, rank)


def _mean_rank(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean over scores of each pair's rank, from 0 to 1; equal scores have the mean of their ranks."""
    total = np.zeros(len(columns[0]))
    for values in columns:
        _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
        ends = np.cumsum(sizes)
        total += ((ends - (sizes + 1) / 2) / max(1, len(values) - 1))[group]
    return total / len(columns)
