"""Short conversations that require memory of earlier turns, so that every reply is right or wrong.

Someone states facts about themselves, one per turn, and gets an answer; now and then they correct one. At the end they
ask for one of them, and the reply is what they said last:

    — My name is Ana. — Nice to meet you, Ana. — What is my name?        Your name is Ana.

or they ask for something they have not said, and the reply says so. A pair is all turns so far and the reply, in the
form in which conversations are learnt (`regard/data/corpora/turns.py`). A name and a town whose places in their lists,
counted from 0, add up to a multiple of five occur together only in the test, in each of its conversations.
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
CORRECTIONS = 0.15  # share of facts that are corrected

VALUES = {
    "name": "Ana Bruno Clara David Emma Felix Grace Hugo Irene Jack Kate Leo Maria Nina Oscar Paula Rosa Simon Tom "
    "Vera",
    "town": "Porto Lisbon Rome Paris Berlin Madrid Vienna Prague Dublin Oslo Athens Moscow Cairo Lima Tokyo Delhi Rio "
    "Boston Austin Quito",
    "job": "teacher doctor baker painter pilot farmer nurse writer cook lawyer singer driver",
    "pet": "cat dog horse rabbit parrot turtle hamster goldfish canary pony",
    "colour": "red blue green yellow black white purple brown orange grey",
}
# Statement, answer, correction, question, reply, and reply if it was not stated.
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
    """Return the splits of the corpus, always the same."""
    learnt: dict[str, str] = {}
    tested: dict[str, str] = {}
    for pairs, is_apart in _conversations():
        for source, reply in pairs[-1:] if is_apart else pairs:
            (tested if is_apart else learnt)[source] = reply
        if len(learnt) >= TRAIN + VALID and len(tested) >= TEST:
            break
    pairs_to_learn = list(learnt.items())[: TRAIN + VALID]
    return {"train": pairs_to_learn[VALID:], "valid": pairs_to_learn[:VALID], "test": list(tested.items())[:TEST]}


def _conversations() -> Iterator[tuple[list[Pair], bool]]:
    """Yield conversations endlessly, each as pairs, and True if it is reserved for the test."""
    dice = Dice(SEED)
    choices = {kind: words.split() for kind, words in VALUES.items()}
    while True:
        stated: dict[str, list[str]] = {}  # stated values of each kind; the last is right
        turns: list[str] = []
        for kind in dice.shuffled(list(VALUES))[: 1 + dice.pick(range(MOST_THINGS))]:
            tell, answer, correct, *_ = TURNS[kind]
            for sentence in (tell, correct) if dice.chance(CORRECTIONS) else (tell,):
                value = dice.pick([word for word in choices[kind] if word not in stated.get(kind, ())])
                stated.setdefault(kind, []).append(value)
                turns += [sentence.format(value), answer.format(value)]
        # Ask more often for something that was stated.
        topic = dice.pick(list(VALUES) if dice.chance(0.3) else list(stated))
        *_, question, reply, unknown = TURNS[topic]
        turns += [question, reply.format(stated[topic][-1]) if topic in stated else unknown]
        yield _pairs(turns), _is_apart(stated, choices)


def _is_apart(stated: dict[str, list[str]], choices: dict[str, list[str]]) -> bool:
    combinations = product(stated.get("name", ()), stated.get("town", ()))
    return any((choices["name"].index(name) + choices["town"].index(town)) % 5 == 0 for name, town in combinations)


def _pairs(turns: list[str]) -> list[Pair]:
    """Return every second turn as the reply to all turns before it."""
    return [(" ".join(f"{DASH} {turn}" for turn in turns[:place]), turns[place]) for place in range(1, len(turns), 2)]
