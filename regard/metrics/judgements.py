"""Statistics of people's judgements of two outputs: counts, sign test, agreement, M1 and M2.

Every judgement is a choice: the output of side a, that of side b, or neither ("tie").
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

Side = Literal["a", "b"]
Choice = Literal["a", "b", "tie"]
Question = Literal["better", "person"]  # which is better, or which a person wrote
Ballots = Mapping[str, Mapping[str, Choice]]  # by judge and item; each judge has one choice for an item


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the exact sign test; ties are left out before.

    If both sides were equally good, wins would follow a binomial distribution with probability one half.
    """
    trials = wins + losses
    tail = sum(comb(trials, count) for count in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / 2**trials)


def cohen_kappa(one: Sequence[str], other: Sequence[str]) -> float | None:
    """Return Cohen's κ (1960) of two judges' choices for the same items.

    κ = (p − e) / (1 − e): p is the share of items on which they agree, e the share expected if each chose by chance
    with their own frequencies. It is undefined (None) if e is 1, where both always make the same single choice.
    """
    items, first, second = len(one), Counter(one), Counter(other)
    agreed = sum(a == b for a, b in zip(one, other, strict=True))
    expected = sum(first[choice] * second[choice] for choice in first)  # in units of 1 / items²
    return None if expected == items**2 else (agreed * items - expected) / (items**2 - expected)


def fleiss_kappa(items: Sequence[Sequence[str]]) -> float | None:
    """Return Fleiss' κ (1971) of the choices that the same number of judges made for each item.

    p is the share of pairs of judges who agree on an item, e the share expected from the frequencies of all choices.
    It is undefined (None) if all choices are the same.
    """
    judges, total = len(items[0]), Counter(choice for choices in items for choice in choices)
    pairs = sum(count * (count - 1) for choices in items for count in Counter(choices).values())
    agreed, votes = pairs / (len(items) * judges * (judges - 1)), len(items) * judges
    expected = sum((count / votes) ** 2 for count in total.values())
    return None if len(total) == 1 else (agreed - expected) / (1 - expected)


@dataclass(frozen=True)
class Tally:
    """Numbers of choices for each side, and of ties."""

    a: int = 0
    b: int = 0
    ties: int = 0

    @classmethod
    def of(cls, choices: Sequence[Choice]) -> "Tally":
        counts = Counter(choices)
        return cls(counts["a"], counts["b"], counts["tie"])

    @property
    def votes(self) -> int:
        return self.a + self.b + self.ties

    def share_of_model(self, question: Question, person: Side) -> float:
        """Return M1 or M2 of the side that no person wrote.

        M1 is the share of its outputs judged better than the person's or equal; M2 the share taken for the person's.
        """
        chosen = self.b if person == "a" else self.a
        return (chosen + (self.ties if question == "better" else 0)) / self.votes


@dataclass(frozen=True)
class Agreement:
    """Agreement between judges on the items that all of them judged; κ is None if it is undefined."""

    statistic: Literal["cohen", "fleiss"]
    judges: int
    items: int
    kappa: float | None


def agreement(ballots: Ballots) -> Agreement | None:
    """Return Cohen's κ of two judges or Fleiss' κ of more; None for a single judge."""
    if len(ballots) < 2:
        return None
    choices = list(ballots.values())
    shared = [item for item in choices[0] if all(item in ballot for ballot in choices)]
    statistic: Literal["cohen", "fleiss"] = "cohen" if len(choices) == 2 else "fleiss"
    kappa = None
    if shared and statistic == "cohen":
        one, other = ([ballot[item] for item in shared] for ballot in choices)
        kappa = cohen_kappa(one, other)
    elif shared:
        kappa = fleiss_kappa([[ballot[item] for ballot in choices] for item in shared])
    return Agreement(statistic, len(choices), len(shared), kappa)


def majority(ballots: Ballots) -> dict[str, Choice]:
    """Return for each item the side that more judges chose, or a tie.

    The sign test counts items, because several votes on one item do not depend on chance separately.
    """
    balance: dict[str, int] = {}
    for ballot in ballots.values():
        for item, choice in ballot.items():
            balance[item] = balance.get(item, 0) + {"a": 1, "b": -1, "tie": 0}[choice]
    return {item: "a" if more > 0 else "b" if more < 0 else "tie" for item, more in balance.items()}


@dataclass(frozen=True)
class Judged:
    """Results of all judges: the question, the side that a person wrote if one did, and all choices."""

    question: Question
    person: Side | None
    ballots: Ballots

    def tally(self, judge: str | None = None) -> Tally:
        """Count the choices of a judge, or of all."""
        ballots = [self.ballots[judge]] if judge is not None else self.ballots.values()
        return Tally.of([choice for ballot in ballots for choice in ballot.values()])

    def p_value(self, judge: str | None = None) -> float:
        """Return the sign test of a judge's choices, or of the majority's choice for each item."""
        choices = self.ballots[judge] if judge is not None else majority(self.ballots)
        counts = Tally.of(list(choices.values()))
        return sign_test(counts.a, counts.b)

    def share(self, judge: str | None = None) -> float | None:
        """Return M1 or M2, if a person wrote one side."""
        return None if self.person is None else self.tally(judge).share_of_model(self.question, self.person)

    @property
    def share_name(self) -> str:
        return "M1" if self.question == "better" else "M2"

    def row(self, judge: str | None = None) -> dict[str, Any]:
        """Return the results of a judge, or of all, as plain values."""
        tally = self.tally(judge)
        row = {"votes": tally.votes, "a": tally.a, "b": tally.b, "ties": tally.ties, "p": self.p_value(judge)}
        return row if self.person is None else row | {self.share_name.lower(): self.share(judge)}
