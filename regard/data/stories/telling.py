"""Stories as people type them: facts line by line, then a question; an empty line begins a new story."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from regard.base.faults import Fault, TextFault
from regard.data.stories.reading import words_in

QUESTION_MARKS = ("?", "？")
_NUMBER = re.compile(r"(\d+)\s+")  # line number, as in files of bAbI
_SHOWN = 60


@dataclass(frozen=True)
class Told:
    """A story and the question about it."""

    facts: list[str]
    question: str


def read_told(text: str, number: int = 0) -> Told:
    """Parse a story whose last line is the question; refuse one without facts or question, as text `number`."""
    lines = [line.text for line in _plain_lines(text.splitlines()) if line.text]
    if not lines:
        raise TextFault(number, "it is empty: tell a story, one fact per line, and ask a question in the last line.")
    *facts, question = lines
    if not is_question(question):
        raise TextFault(
            number, f"its last line, '{question[:_SHOWN]}', is not a question: a question ends with a question mark."
        )
    if other := next(filter(is_question, facts), None):
        raise TextFault(number, f"'{other[:_SHOWN]}' is a question before the last line; ask one at a time.")
    if not facts:
        raise TextFault(number, f"it has no facts: tell something before you ask '{question[:_SHOWN]}'.")
    for line in lines:
        if not words_in(line):
            raise TextFault(number, f"there is no word in its line '{line[:_SHOWN]}'.")
    return Told(facts, question)


def is_question(line: str) -> bool:
    return line.endswith(QUESTION_MARKS)


class Asked(NamedTuple):
    """A question and the facts before it, as one text, and where it stands."""

    text: str
    where: str  # file and line, for error messages


def stories_in(lines: Iterable[str], name: str) -> Iterator[Asked]:
    """Yield each question with the facts before it; a story may have several questions."""
    facts: list[str] = []
    count = 0
    for number, line in enumerate(_plain_lines(lines), 1):
        if line.begins_story:
            facts = []
        if is_question(line.text):
            yield Asked("\n".join([*facts, line.text]), f"{name}, line {number}")
            count += 1
        elif line.text:
            facts.append(line.text)
    if facts and not count:
        raise Fault(
            f"{name} has no question: its last line, '{facts[-1][:_SHOWN]}', does not end with a question mark."
        )
    if not count:
        raise Fault(f"{name} is empty: tell a story, one fact per line, and ask a question in the last line.")


class _Line(NamedTuple):
    text: str
    begins_story: bool


def _plain_lines(lines: Iterable[str]) -> Iterator[_Line]:
    """Yield lines without their numbers in a story, and without answers after questions.

    A story begins after an empty line, and where numbering restarts. Its lines are numbered if its first has a 1, so
    that `3 apples are in the kitchen.` is a whole fact elsewhere.
    """
    is_first, is_numbered = True, False
    for line in lines:
        text = line.strip()
        number = _NUMBER.match(text)
        begins_numbers = number is not None and int(number[1]) == 1 and (is_first or is_numbered)
        begins_story = begins_numbers or not text
        is_first, is_numbered = not text, begins_numbers or (is_numbered and not begins_story)
        if number and is_numbered:
            text = text[number.end() :]
        yield _Line(text.partition("\t")[0].strip(), begins_story)
