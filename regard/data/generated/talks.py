"""Little conversations in which what was said before must be remembered, so that every reply is right or wrong.

Someone tells things about themselves, one a turn, and is answered; now and then they correct one. At the end they ask
for one of them, and are told what they said last:

    — My name is Ana. — Nice to meet you, Ana. — What is my name?        Your name is Ana.

or they ask for what they have not told, and the reply says so. A pair is all turns so far and the reply, in the form in
which conversations are learnt (`regard/data/corpora/turns.py`). A name and a town whose places in their lists, counted
from 0, add up to a multiple of five meet in the test alone, and in each conversation of the test two such meet.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

from regard.data.corpora.turns import DASH
from regard.data.demo.draws import Dice

Pair = tuple[str, str]

SEED = 5
TRAIN, VALID, TEST = 20_000, 500, 1000
MOST_THINGS = 4
CORRECTIONS = 0.15  # the share of things told that are corrected

VALUES = {
    "name": "Ana Bruno Clara David Emma Felix Grace Hugo Irene Jack Kate Leo Maria Nina Oscar Paula Rosa Simon Tom "
    "Vera",
    "town": "Porto Lisbon Rome Paris Berlin Madrid Vienna Prague Dublin Oslo Athens Moscow Cairo Lima Tokyo Delhi Rio "
    "Boston Austin Quito",
    "job": "teacher doctor baker painter pilot farmer nurse writer cook lawyer singer driver",
    "pet": "cat dog horse rabbit parrot turtle hamster goldfish canary pony",
    "colour": "red blue green yellow black white purple brown orange grey",
}
# What is told, what is answered, how it is corrected, how it is asked for, the reply, and the reply if it was not told.
TURNS = {
    "name": (
        "My name is {}.",
        "Nice to meet you, {}.",
        "Sorry, my name is {}, really.",
        "What is my name?",
        "Your name is {}.",
        "You have not told me your name.",
    ),
    "town": (
        "I live in {}.",
        "I would like to see {}.",
        "No, wait, I live in {} now.",
        "Where do I live?",
        "You live in {}.",
        "You have not told me where you live.",
    ),
    "job": (
        "I work as a {}.",
        "A {} has a lot to do.",
        "I mean, I work as a {} these days.",
        "What is my job?",
        "You work as a {}.",
        "You have not told me what your job is.",
    ),
    "pet": (
        "I have a {} at home.",
        "I once had a {} too.",
        "Well, in fact it is a {}.",
        "Which pet do I have?",
        "You have a {}.",
        "You have not told me about a pet.",
    ),
    "colour": (
        "My favourite colour is {}.",
        "I like {} things.",
        "No, I like {} more.",
        "Which colour do I like?",
        "You like {}.",
        "You have not told me which colour you like.",
    ),
}


@cache
def talk_corpus() -> dict[str, list[Pair]]:
    """The splits of the corpus, always the same."""
    learnt: dict[str, str] = {}
    tested: dict[str, str] = {}
    for pairs, is_apart in _conversations():
        for source, reply in pairs[-1:] if is_apart else pairs:
            (tested if is_apart else learnt)[source] = reply
        if len(learnt) >= TRAIN + VALID and len(tested) >= TEST:
            break
    kept = list(learnt.items())[: TRAIN + VALID]
    return {"train": kept[VALID:], "valid": kept[:VALID], "test": list(tested.items())[:TEST]}


def _conversations() -> Iterator[tuple[list[Pair], bool]]:
    """Conversations without end, each as pairs, and whether it is kept for the test."""
    dice = Dice(SEED)
    choices = {kind: words.split() for kind, words in VALUES.items()}
    while True:
        told: dict[str, list[str]] = {}  # what was told of each kind, the last of which is right
        turns: list[str] = []
        for kind in dice.shuffled(list(VALUES))[: 1 + dice.pick(range(MOST_THINGS))]:
            tell, answer, correct, *_ = TURNS[kind]
            for sentence in (tell, correct) if dice.chance(CORRECTIONS) else (tell,):
                value = dice.pick([word for word in choices[kind] if word not in told.get(kind, ())])
                told.setdefault(kind, []).append(value)
                turns += [sentence.format(value), answer.format(value)]
        # What was told is asked for more often than what was not.
        asked = dice.pick(list(VALUES) if dice.chance(0.3) else list(told))
        *_, question, reply, unknown = TURNS[asked]
        turns += [question, reply.format(told[asked][-1]) if asked in told else unknown]
        yield _pairs(turns), _is_apart(told, choices)


def _is_apart(told: dict[str, list[str]], choices: dict[str, list[str]]) -> bool:
    met = product(told.get("name", ()), told.get("town", ()))
    return any((choices["name"].index(name) + choices["town"].index(town)) % 5 == 0 for name, town in met)


def _pairs(turns: list[str]) -> list[Pair]:
    """Every second turn as the reply to all before it."""
    return [(" ".join(f"{DASH} {turn}" for turn in turns[:place]), turns[place]) for place in range(1, len(turns), 2)]
