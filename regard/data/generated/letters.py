"""Random Russian letters and the Latin letters that stand for them, with the true alignment of every output.

    щетка  →  sh ch y e t k a

A letter gives one or two outputs, or none (ъ, ь), always in the order of the input. Letters are drawn independently, so
that nothing but an output's own letter says anything about it.
"""

from functools import cache

from regard.data.demo.draws import Dice

SEED = 13
SIZES = {"train": 10_000, "valid": 300, "test": 500}
SHORTEST, LONGEST = 3, 10
_TABLE = (
    "а a  б b  в v  г g  д d  е y·e  ж zh  з z  и i  й j  к k  л l  м m  н n  о o  п p  р r  с s  т t  у u  ф f  х kh  "
    "ц t·s  ч ch  ш sh  щ sh·ch  ы y  э e  ю y·u  я y·a"
)
OUTPUTS = {"ъ": (), "ь": ()} | {
    letter: tuple(outputs.split("·")) for letter, outputs in zip(_TABLE.split()[::2], _TABLE.split()[1::2], strict=True)
}

Pair = tuple[str, str]


def spell(letters: str) -> str:
    """Return the outputs of the letters, separated by spaces."""
    return " ".join(output for letter in letters for output in OUTPUTS[letter])


def sources_of_outputs(letters: str) -> list[int]:
    """Return, for each output, the number of the letter that it stands for."""
    return [place for place, letter in enumerate(letters) for _ in OUTPUTS[letter]]


@cache
def letter_corpus(split: str) -> list[Pair]:
    """Return the pairs of a split, always the same; no split shares an input with another."""
    drawn: dict[str, None] = {}
    dice, total = Dice(SEED), sum(SIZES.values())
    while len(drawn) < total:
        letters = "".join(dice.pick(list(OUTPUTS)) for _ in range(dice.pick(range(SHORTEST, LONGEST + 1))))
        if any(OUTPUTS[letter] for letter in letters):
            drawn[letters] = None
    names, first = list(SIZES), 0
    for name in names[: names.index(split)]:
        first += SIZES[name]
    return [(letters, spell(letters)) for letters in list(drawn)[first : first + SIZES[split]]]
