"""Reports of a dozen sentences or more with summaries; the facts that matter are scattered among others.

A report opens with a sentence that says nothing. Then come, in any order, the sentences with the facts, each in one of
several wordings, and others with facts of the same kinds that do not belong in the summary: earlier matches, other
people, other sums. So copying the first sentences or rare words does not work. The names and most numbers of validation
and test occur in no training report (`invented.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from regard.data.demo.draws import Dice
from regard.data.generated.invented import invent_name, invent_number

Pair = tuple[str, str]

SEED = 23
SIZES = {"train": 8000, "valid": 300, "test": 500}
FEWEST_OTHERS, MOST_OTHERS = 8, 12  # sentences in addition to the facts


class ReportKind(NamedTuple):
    """One kind of report: its openings, the wordings of each fact, misleading sentences, and the summary."""

    openings: Sequence[str]
    facts: Sequence[Sequence[str]]
    misleading: Sequence[str]
    summary: str


KINDS = (
    ReportKind(
        ("It was an evening that nobody here will forget.", "The match had been awaited for weeks."),
        (
            ("In the end {a} beat {b} by {score}.", "{b} lost to {a}, and the result was {score}."),
            ("The match was played in {town}.", "They met on the old ground of {town}."),
            ("The last goal came from {c}.", "{c} scored shortly before the end."),
            ("{number} people had come to watch.", "It was seen by {number} people."),
        ),
        (
            "The first goal came from {other}.",
            "A year ago {b} beat {a} by {second}.",
            "The next match will be played in {away}.",
            "{few} people had bought their tickets months before.",
        ),
        "{a} beat {b} {score} in {town} before {number} people; {c} scored last.",
    ),
    ReportKind(
        ("The night was short for many people.", "The smoke could be seen from far away."),
        (
            ("The fire broke out in {street} Street.", "It was a house in {street} Street that burnt."),
            ("All this happened in {town}.", "It is the worst fire that {town} has seen."),
            ("{few} people were hurt.", "Doctors looked after {few} people."),
            ("{a}, who led the firemen, blames {cause}.", "It began with {cause}, said {a} of the fire brigade."),
        ),
        (
            "The flames were first seen from {away}.",
            "Last winter a house burnt in {square} Square.",
            "{number} people live in that part of the town.",
            "{other}, a neighbour, had thought of {rumour}.",
        ),
        "A fire in {street} Street in {town} hurt {few} people; {a} blames {cause}.",
    ),
    ReportKind(
        ("The council met till late at night.", "There was much talk and little sleep."),
        (
            ("The council of {town} has decided.", "It was a good day for {town}."),
            ("There will be a new {thing}.", "What is to be built is a {thing}."),
            ("It will cost {number} euros.", "{number} euros are set aside for it."),
            ("{a}, the mayor, is pleased.", "The mayor, {a}, thanked everybody."),
        ),
        (
            "A {idea} was found too expensive.",
            "{away} has had to save instead.",
            "{other}, who was mayor before, had wanted to wait.",
            "In the year before it was {few} euros less.",
        ),
        "{town} will build a {thing} for {number} euros, said mayor {a}.",
    ),
    ReportKind(
        ("There were tears, flowers and long speeches.", "The hall was full to the last seat."),
        (
            ("The prize went to {a}.", "It was {a} who won in the end."),
            ("The book is called {title}.", "{title} is the name of the book."),
            ("It is worth {number} euros.", "With the prize come {number} euros."),
            ("{c} handed it over.", "It was given by {c}."),
        ),
        (
            "Many had thought that {other} would win.",
            "{second_title} is the name of the book that came second.",
            "The flowers alone had cost {few} euros.",
            "The prize was founded in {away}.",
        ),
        "{a} won {number} euros for {title}; {c} handed over the prize.",
    ),
)
OTHERS = (
    "{person}, aged {age}, had come with the whole family.",
    "It had rained in {place} the whole day.",
    "{person} from {place} did not want to say anything.",
    "The road to {place} was closed for {age} minutes.",
    "A man called {person} sold tea and bread.",
    "There were {age} policemen, and they had little to do.",
    "The newspaper of {place} had written about it before.",
    "{person} sang a song, and nobody listened.",
    "A dog of {person} had run away and came back.",
    "{person} and {friend} talked about old times.",
    "Someone had painted the walls in {place} green.",
    "The bus from {place} came {age} minutes late.",
)
CAUSES = ("a candle", "an old oven", "a cigarette", "a broken lamp", "lightning", "a toy")
THINGS = ("bridge", "school", "library", "station", "hospital", "market", "theatre", "swimming pool")


@cache
def summary_corpus(split: str) -> list[Pair]:
    """Return the reports of a split and their summaries, always the same."""
    draws = _draws(split)
    return [next(draws) for _ in range(SIZES[split])]


def _draws(split: str) -> Iterator[Pair]:
    """Yield reports and their summaries endlessly."""
    dice = Dice(SEED + list(SIZES).index(split))
    while True:
        kind, words = dice.pick(KINDS), _words(split, dice)
        sentences = [dice.pick(wordings).format(**words) for wordings in kind.facts]
        sentences += [sentence.format(**words) for sentence in kind.misleading if dice.chance(0.7)]
        count = dice.pick(range(FEWEST_OTHERS, MOST_OTHERS + 1))
        sentences += [_by_the_way(sentence, split, dice) for sentence in dice.shuffled(OTHERS)[:count]]
        report = " ".join([dice.pick(kind.openings), *dice.shuffled(sentences)])
        yield report, kind.summary.format(**words)


def _by_the_way(sentence: str, split: str, dice: Dice) -> str:
    """Return a sentence with people and places that occur nowhere else in the report."""
    invented = {name: invent_name(split, dice) for name in ("person", "friend", "place")}
    return sentence.format(**invented, age=dice.pick(range(20, 90)))


def _words(split: str, dice: Dice) -> Mapping[str, str]:
    """Return the words for the slots of a report; the first of two similar ones is the true one."""
    names = ("a", "b", "c", "other", "town", "away", "street", "square", "title", "second_title")
    invented = {name: invent_name(split, dice) for name in names}
    (cause, rumour), (thing, idea) = (dice.shuffled(words)[:2] for words in (CAUSES, THINGS))
    goals = dice.pick(range(4))
    return invented | {
        "score": f"{goals + 1 + dice.pick(range(3))}-{goals}",
        "second": f"{dice.pick(range(2, 6))}-{dice.pick(range(2))}",
        "number": invent_number(split, dice, 1000, 9999),
        "few": invent_number(split, dice, 2, 99),
        "cause": cause,
        "rumour": rumour,
        "thing": thing,
        "idea": idea,
    }
