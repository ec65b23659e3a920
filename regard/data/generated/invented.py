"""Invented names and numbers, different in each split, so that a model can only copy those of validation and test.

A name is made of syllables. The sum of their places in the list, counted from 0, decides its split: a multiple of five
is test, one more is validation, the rest are training. A number is assigned by its own value.
"""

from regard.data.demo.draws import Dice

_SOUNDS = (
    "ba be bi bo bu da de di do du fa fe fi fo ga go ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no nu "
    "pa pe pi po ra re ri ro ru sa se si so ta te ti to va ve vi vo za zo bá lê çu ñi nø rô šu żó"
)
_SYLLABLES = _SOUNDS.split()
_REMAINDERS = {"test": (0,), "valid": (1,), "train": (2, 3, 4)}


def invent_name(split: str, dice: Dice) -> str:
    """Return a name of two to four syllables."""
    while True:
        places = [dice.pick(range(len(_SYLLABLES))) for _ in range(dice.pick((2, 3, 3, 4)))]
        if sum(places) % 5 in _REMAINDERS[split]:
            return "".join(_SYLLABLES[place] for place in places).capitalize()


def invent_number(split: str, dice: Dice, least: int, most: int) -> str:
    """Return a number from `least` to `most`, both included."""
    while True:
        number = dice.pick(range(least, most + 1))
        if number % 5 in _REMAINDERS[split]:
            return str(number)
