"""Pairs of sentences that say the same in two styles, made from templates: polite forms of address, and paraphrases.

A grammar is a TOML file. Each of its languages has styles, and patterns with one template for each style. A slot of a
template is filled from a row of its table, whose first row names the forms: `{name.formal}` is a form of the name, and
`{verb.past@name}` is the verb's form `past_m`, `past_f` or `past_n`, by the `gender` of the name. The first letter of a
sentence is capitalised.

A pair begins with the requested style: `[formal] John, open the letter.` gives `Mr Smith, could you please open the
letter?` Some combinations of words in the two slots `apart` occur only in the test: those for which the row of the
first, counted from 0, plus three times the row of the second is a multiple of seven. In training each of these words
occurs with others.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from pydantic import Field

from regard.base.parsing import parse_toml
from regard.base.recipe import Options, check
from regard.data.demo.draws import Dice

Pair = tuple[str, str]
Rows = dict[str, int]  # the row that fills each slot

_PLACE = re.compile(r"\{(\w+)\.(\w+)(?:@(\w+))?\}")


class StyleLanguage(Options):
    """The styles of one language, its patterns and its words."""

    styles: list[str] = Field(min_length=2, description="Names of the styles, written in brackets before a sentence.")
    patterns: list[list[str]] = Field(min_length=1, description="One template for each style.")
    slots: dict[str, list[list[str]]] = Field(description="Tables of words; the first row names the forms.")

    def form(self, slot: str, row: int, name: str) -> str:
        """Return one form of the word in a row of a slot's table."""
        names, *words = self.slots[slot]
        return words[row][names.index(name)]

    def say(self, pattern: int, style: int, rows: Rows) -> str:
        """Return the sentence of a pattern in a style, with its slots filled."""

        def fill(place: re.Match[str]) -> str:
            slot, name, agreeing = place.groups()
            gender = f"_{self.form(agreeing, rows[agreeing], 'gender')}" if agreeing else ""
            return self.form(slot, rows[slot], name + gender)

        sentence = _PLACE.sub(fill, self.patterns[pattern][style])
        return sentence[0].upper() + sentence[1:]


class StyleGrammar(Options):
    """Everything in a file of templates."""

    seed: int = Field(description="Seed of the draws.")
    train: int = Field(gt=0, description="Number of training pairs.")
    valid: int = Field(gt=0, description="Number of validation pairs, from the same combinations of words.")
    test: int = Field(gt=0, description="Number of test pairs, from combinations that are not in the others.")
    apart: tuple[str, str] = Field(strict=False, description="The two slots whose combinations are held out.")
    english: StyleLanguage
    portuguese: StyleLanguage
    russian: StyleLanguage

    @property
    def languages(self) -> tuple[StyleLanguage, ...]:
        return self.english, self.portuguese, self.russian

    def is_apart(self, rows: Rows) -> bool:
        """Return True if a combination of words is held out for the test."""
        first, second = self.apart
        return (rows[first] + 3 * rows[second]) % 7 == 0


def read_grammar(name: str) -> StyleGrammar:
    """Read the grammar of this name."""
    text = files("regard.data.generated").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return check(StyleGrammar, parse_toml(text, f"The grammar {name}"), f"the grammar {name}")


@cache
def style_corpus(name: str) -> dict[str, list[Pair]]:
    """Return the splits of the corpus that a grammar generates, always the same."""
    grammar = read_grammar(name)
    learnt: dict[str, str] = {}
    tested: dict[str, str] = {}
    for source, target, is_apart in _draws(grammar):
        (tested if is_apart else learnt)[source] = target
        if len(learnt) >= grammar.train + grammar.valid and len(tested) >= grammar.test:
            break
    pairs = list(learnt.items())[: grammar.train + grammar.valid]
    return {
        "train": pairs[grammar.valid :],
        "valid": pairs[: grammar.valid],
        "test": list(tested.items())[: grammar.test],
    }


def _draws(grammar: StyleGrammar) -> Iterator[tuple[str, str, bool]]:
    """Yield pairs endlessly, with repeats, and True if their words are reserved for the test."""
    dice = Dice(grammar.seed)
    while True:
        language = dice.pick(grammar.languages)
        rows = {slot: dice.pick(range(len(table) - 1)) for slot, table in language.slots.items()}
        pattern = dice.pick(range(len(language.patterns)))
        source_style = dice.pick(range(len(language.styles)))
        target_style = dice.pick([style for style in range(len(language.styles)) if style != source_style])
        source = f"[{language.styles[target_style]}] {language.say(pattern, source_style, rows)}"
        yield source, language.say(pattern, target_style, rows), grammar.is_apart(rows)
