"""Stories as people tell them: facts line by line, then a question; a line without words begins a new story."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from regard.base.faults import Fault, TextFault
from regard.data.stories.reading import words_in

QUESTION_MARKS = ("?", "？")
_NUMBER = re.compile(r"^\d+\s+")  # of a line, as files of bAbI have it
_SHOWN = 60


@dataclass(frozen=True)
class Told:
    """A story that someone told, and what they ask about it."""

    facts: list[str]
    question: str


def read_told(text: str, number: int = 0) -> Told:
    """A story whose last line is the question; one without facts or question is refused, `number` saying which."""
    lines = [_plain(line) for line in text.splitlines() if line.strip()]
    if not lines:
        raise TextFault(number, "it is empty: tell a story, a fact a line, and ask a question in the last line.")
    *facts, question = lines
    if not is_question(question):
        raise TextFault(
            number, f"its last line, '{question[:_SHOWN]}', is no question: a question ends with a question mark."
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


def stories_in(lines: Iterable[str], name: str) -> Iterator[str]:
    """Each question of some lines with the facts told before it, as one text; a story may have several questions."""
    facts: list[str] = []
    count = 0
    for line in lines:
        plain = _plain(line)
        if not plain:
            facts = []
        elif is_question(plain):
            yield "\n".join([*facts, plain])
            count += 1
        else:
            facts.append(plain)
    if facts and not count:
        raise Fault(f"{name} asks nothing: its last line, '{facts[-1][:_SHOWN]}', does not end with a question mark.")
    if not count:
        raise Fault(f"{name} is empty: tell a story, a fact a line, and ask a question in the last line.")


def _plain(line: str) -> str:
    """A line without its number in the story, and without the answer that a file may have behind a question."""
    return _NUMBER.sub("", line.strip()).partition("\t")[0].strip()
