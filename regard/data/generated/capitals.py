"""Lines of random letters whose last one repeats the only capital among them, for language models.

    k v R m z = r

The letter after = is decided by one earlier token, wherever that stands, and by nothing else.
"""

from functools import cache
from string import ascii_lowercase

from regard.data.demo.draws import Dice

SEED = 17
SIZES = {"train": 20_000, "valid": 300, "test": 500}
SHORTEST, LONGEST = 4, 10
ASKS = "="


@cache
def capital_lines(split: str) -> list[str]:
    """Return the lines of a split, always the same; no line occurs twice."""
    lines: dict[str, None] = {}
    dice, total = Dice(SEED), sum(SIZES.values())
    while len(lines) < total:
        letters = [dice.pick(ascii_lowercase) for _ in range(dice.pick(range(SHORTEST, LONGEST + 1)))]
        place = dice.pick(range(len(letters)))
        answer, letters[place] = letters[place], letters[place].upper()
        lines[" ".join([*letters, ASKS, answer])] = None
    names, first = list(SIZES), 0
    for name in names[: names.index(split)]:
        first += SIZES[name]
    return list(lines)[first : first + SIZES[split]]


def capital_of(prompt: str) -> int | None:
    """Return the number of the capital among the words of a prompt that ends with =, or None for another text."""
    *letters, last = prompt.split() or [""]
    capitals = [place for place, letter in enumerate(letters) if letter.isupper()]
    is_one = last == ASKS and len(capitals) == 1 and all(len(letter) == 1 for letter in letters)
    return capitals[0] if is_one else None
