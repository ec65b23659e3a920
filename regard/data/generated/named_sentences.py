"""English sentences full of names and numbers, with their Portuguese translations.

The rest of each sentence is easy to learn. The names and numbers of validation and test occur in no training sentence
(`invented.py`) and must be copied from the source, often to another place.
"""

from collections.abc import Iterator
from functools import cache

from regard.data.demo.draws import Dice
from regard.data.generated.invented import invent_name, invent_number

Pair = tuple[str, str]

SEED = 11
SIZES = {"train": 10_000, "valid": 500, "test": 1000}

TEMPLATES = (
    ("{a} was born in {town} in {year}.", "{a} nasceu em {town} em {year}."),
    ("Please call {a} at {phone} before {time}.", "Ligue para {a} no {phone} antes das {time}, por favor."),
    ("{a} paid {b} {number} euros for the {thing}.", "{b} recebeu {number} euros de {a} {coisa}."),
    (
        "Flight {flight} from {town} to {other} is {number} minutes late.",
        "O voo {flight} de {town} para {other} está {number} minutos atrasado.",
    ),
    ("The meeting with {a} and {b} is in room {number}.", "A reunião com {a} e {b} é na sala {number}."),
    ("{a} lives at {number} {town} Street.", "{a} mora na rua {town}, {number}."),
    ("Is {a} taller than {b}?", "{a} tem mais altura do que {b}?"),
    ("{a} took the train to {town} at {time}.", "{a} pegou o trem para {town} às {time}."),
    (
        "Our {number} books were sent to {a} in {town}.",
        "Nossos {number} livros foram enviados para {a} em {town}.",
    ),
    ("In {year} {b} sold the {thing} to {a}.", "{a} comprou {objeto} de {b} em {year}."),
)
THINGS = (  # English; then "for the …" and "the …" in Portuguese
    ("boat", "pelo barco", "o barco"),
    ("house", "pela casa", "a casa"),
    ("painting", "pelo quadro", "o quadro"),
    ("horse", "pelo cavalo", "o cavalo"),
    ("chair", "pela cadeira", "a cadeira"),
    ("clock", "pelo relógio", "o relógio"),
    ("farm", "pela fazenda", "a fazenda"),
    ("ring", "pelo anel", "o anel"),
)


@cache
def name_corpus(split: str) -> list[Pair]:
    """Return the pairs of a split, always the same."""
    pairs: dict[str, str] = {}
    for source, target in _draws(split):
        pairs[source] = target
        if len(pairs) == SIZES[split]:
            break
    return list(pairs.items())


def _draws(split: str) -> Iterator[Pair]:
    """Yield pairs endlessly."""
    dice = Dice(SEED + list(SIZES).index(split))

    def number(least: int, most: int) -> str:
        return invent_number(split, dice, least, most)

    while True:
        english, portuguese = dice.pick(TEMPLATES)
        thing, paid_for, bought = dice.pick(THINGS)
        words = {name: invent_name(split, dice) for name in ("a", "b", "town", "other")} | {
            "year": number(1700, 2030),
            "phone": f"{number(100, 999)}-{number(1000, 9999)}",
            "time": f"{number(1, 23)}:{number(10, 59)}",
            "flight": f"{invent_name(split, dice)[:2].upper()}{number(100, 9999)}",
            "number": number(2, 9999),
            "thing": thing,
            "coisa": paid_for,
            "objeto": bought,
        }
        yield english.format(**words), portuguese.format(**words)
