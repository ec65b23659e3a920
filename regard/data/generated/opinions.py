"""Opinions of guests in Russian, good or bad, in which negation reverses a word and a marker reverses an opinion.

    Еда была вкусная и мы не разочаровались.        good: nobody was disappointed
    Суп был хороший, но мы не вернёмся.             bad: the verdict follows но (but)
    Суп был хороший, хотя мы скучали.               good: the verdict precedes хотя (although)

An opinion has one part or two. Each part is good or bad, and не (not) reverses it. Parts that agree are joined by и
(and) or a comma, parts that disagree by но or хотя. A quality and a deed whose places in their lists, counted from 0,
add up to a multiple of five occur together only in the test, so the first sentence above is never in training.
"""

from collections.abc import Iterator
from functools import cache

from regard.data.demo.draws import Dice

Opinion = tuple[str, str]  # label and text

GOOD, BAD = "good", "bad"
SEED = 3
SIZES = {"train": 3000, "valid": 300, "test": 500}
NEGATED = 0.4  # share of negated parts
ALONE = 0.2  # share of opinions with one part

BE = {"m": "был", "f": "была", "n": "было", "p": "были"}
THINGS = {
    "m": "суп десерт ужин завтрак кофе салат",
    "f": "еда рыба пицца каша выпечка",
    "n": "мясо мороженое пиво вино",
    "p": "закуски блины пельмени пирожки",
}
# Stem of each adjective, its endings, and True if it is good.
QUALITIES = [
    ("вкусн", "ый ая ое ые", True),
    ("ужасн", "ый ая ое ые", False),
    ("хорош", "ий ая ее ие", True),
    ("плох", "ой ая ое ие", False),
    ("отличн", "ый ая ое ые", True),
    ("пресн", "ый ая ое ые", False),
    ("свеж", "ий ая ее ие", True),
    ("холодн", "ый ая ое ые", False),
    ("прекрасн", "ый ая ое ые", True),
    ("противн", "ый ая ое ые", False),
]
# What the guests did, before and after the place of не, and True if it is good.
DEEDS = [
    ("мы", "разочаровались", False),
    ("нам", "понравилось", True),
    ("мы", "пожалели", False),
    ("мы", "вернёмся", True),
    ("мы", "расстроились", False),
    ("мы", "остались довольны", True),
    ("мы", "рассердились", False),
    ("мы", "рады", True),
    ("мы", "скучали", False),
    ("мы", "советуем это место", True),
]


@cache
def opinion_corpus() -> dict[str, list[Opinion]]:
    """Return the splits of the corpus, always the same; no text is in two of them."""
    learnt: dict[str, str] = {}
    tested: dict[str, str] = {}
    for text, label, is_apart in _opinions():
        (tested if is_apart else learnt)[text] = label
        if len(tested) >= SIZES["test"] and len(learnt) >= SIZES["train"] + SIZES["valid"]:
            break
    learnt_examples = [(label, text) for text, label in learnt.items()][: SIZES["train"] + SIZES["valid"]]
    test = [(label, text) for text, label in tested.items()][: SIZES["test"]]
    return {"train": learnt_examples[SIZES["valid"] :], "valid": learnt_examples[: SIZES["valid"]], "test": test}


def _opinions() -> Iterator[tuple[str, str, bool]]:
    """Yield opinions endlessly: text, label, and True if it is reserved for the test."""
    dice = Dice(SEED)
    while True:
        quality, deed = dice.pick(range(len(QUALITIES))), dice.pick(range(len(DEEDS)))
        parts = [_quality_part(quality, dice), _deed_part(deed, dice)]
        (first, is_first_good), (second, is_second_good) = parts if dice.chance(0.6) else parts[::-1]
        if dice.chance(ALONE):
            yield _sentence(first), _label(is_first_good), False
            continue
        is_apart = (quality + deed) % 5 == 0
        if is_first_good == is_second_good:
            yield _sentence(first + dice.pick([" и ", ", "]) + second), _label(is_first_good), is_apart
        else:
            marker, is_good = dice.pick([("но", is_second_good), ("хотя", is_first_good)])
            yield _sentence(f"{first}, {marker} {second}"), _label(is_good), is_apart


def _quality_part(number: int, dice: Dice) -> tuple[str, bool]:
    """Return a clause about food, and True if it is positive."""
    stem, endings, is_good = QUALITIES[number]
    gender = dice.pick(list(THINGS))
    adjective = stem + endings.split()[list(THINGS).index(gender)]
    is_negated = dice.chance(NEGATED)
    not_ = "не " if is_negated else ""
    return f"{dice.pick(THINGS[gender].split())} {BE[gender]} {not_}{adjective}", is_good != is_negated


def _deed_part(number: int, dice: Dice) -> tuple[str, bool]:
    """Return a clause about what the guests did, and True if it is positive."""
    who, what, is_good = DEEDS[number]
    is_negated = dice.chance(NEGATED)
    return f"{who} {'не ' if is_negated else ''}{what}", is_good != is_negated


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _label(is_good: bool) -> str:
    return GOOD if is_good else BAD
