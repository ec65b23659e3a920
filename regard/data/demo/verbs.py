"""English verbs of the demo corpus: she eats, does she eat, will she eat; the Portuguese forms are in the lexicon."""

from typing import NamedTuple

from regard.data.demo.lexicon import DemoWords, Modal, Tense

THIRD = 1  # the verb form of he, she and it, counted from 0


class VerbGroup(NamedTuple):
    """The shapes a verb takes around its subject: she ate (verb); did (helper) she eat (base)."""

    verb: str
    helper: str
    base: str


def ordinary(words: DemoWords, english: list[str], tense: Tense, person: int) -> VerbGroup:
    """A verb with do, did and will, from its base, third person and past."""
    base, third, past = english
    match tense:
        case "present":
            return VerbGroup(third if person == THIRD else base, words.helpers.present[person], base)
        case "past":
            return VerbGroup(past, words.helpers.past[person], base)
        case "future":
            helper = words.helpers.future[person]
            return VerbGroup(f"{helper} {base}", helper, base)


def be(words: DemoWords, tense: Tense, person: int) -> VerbGroup:
    """The verb that is its own helper: is she tired? will she be tired?"""
    if tense == "future":
        helper = words.helpers.future[person]
        return VerbGroup(f"{helper} be", helper, "be")
    form = words.be.present[person] if tense == "present" else words.be.past[person]
    return VerbGroup(form, form, "")


def modal(words: DemoWords, entry: Modal, person: int) -> VerbGroup:
    """can, which is its own helper; want to and need to, which are not."""
    base, third = entry.english
    if entry.helper:
        return VerbGroup(base, base, "")
    return VerbGroup(third if person == THIRD else base, words.helpers.present[person], base)
