"""Reading stories: files in the format of bAbI, one by one, in a folder or in an archive, and stories as people type.

A line of such a file is its number, counted anew in every story, and a fact; or a question, a tab, its answer, and
perhaps another tab and the numbers of the facts that support it. An answer of several words with commas is one answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path

from regard.base.faults import Fault
from regard.base.names import natural_order
from regard.data.catalogue.entries import locate
from regard.data.catalogue.unpack import Unusable, archive_members
from regard.data.lines import read_lines, read_stream

LARGEST = 2**30  # bytes of all files in a folder or an archive of stories
_IN_A_SET = re.compile(r"[\w-]+:")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SPLIT = re.compile(r"_(train|valid|test)$")
_MOST_ASKED = 200_000_000  # characters of stories before all questions of a file, each of which keeps its story
_SHOWN = 60  # characters of a line in a fault


@dataclass(frozen=True)
class Question:
    """A question about some facts: those told before it, the places among them of those that support its answer."""

    facts: Sequence[str]
    question: str
    answer: str
    support: Sequence[int]
    story: int  # the number of its story in its file


@dataclass(frozen=True)
class StoryFile:
    """The questions of one file, and what the file is called: its name without suffix and split."""

    name: str
    questions: Sequence[Question]


def words_in(sentence: str) -> list[str]:
    """The words of a sentence in lower case, without its punctuation."""
    return _WORD.findall(sentence.lower())


def read_story_files(name: str) -> list[StoryFile]:
    """The files that a name of a recipe means, in the order of the numbers in their names."""
    return [StoryFile(_part(path), list(_questions(lines, path))) for path, lines in sorted(_files(name), key=_order)]


def check_there(name: str) -> None:
    """Refuse a name that means no file, without reading any; what an archive holds shows only when it is read."""
    root, _ = _root(name)
    if not _IN_A_SET.match(name) and not list(root.parent.glob(root.name)):
        raise Fault(f"There is no file {name}.")


def _root(name: str) -> tuple[Path, str]:
    """The file, folder or archive that a name begins with, and what is meant inside it."""
    if not _IN_A_SET.match(name):
        return Path(name).expanduser(), ""
    top, _, inner = name.partition("/")
    return locate(top), inner


def _files(name: str) -> Iterator[tuple[str, Iterable[str]]]:
    """The path of each file that a name means, and its lines."""
    root, inner = _root(name)
    if not inner:
        found = [(str(path), read_lines(path)) for path in root.parent.glob(root.name) if path.is_file()]
    else:
        try:
            members = [(path, stream.read()) for path, stream in archive_members(root, LARGEST) if _fits(path, inner)]
        except Unusable as reason:
            raise Fault(f"{root} {reason}.") from None
        found = [(path, read_stream(BytesIO(content), path)) for path, content in members]
    if not found:
        raise Fault(f"There is no file {name}.")
    yield from found


def _fits(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) and path.count("/") == pattern.count("/")


def _order(file: tuple[str, Iterable[str]]) -> list[tuple[int, str]]:
    return natural_order(file[0])


def _part(path: str) -> str:
    return _SPLIT.sub("", path.rpartition("/")[2].partition(".")[0])


def _questions(lines: Iterable[str], name: str) -> Iterator[Question]:
    facts: list[str] = []
    places: dict[int, int] = {}  # of the facts, by the numbers of their lines in the story
    story = questions = told = asked = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        count, _, rest = line.strip().partition(" ")
        if not count.isascii() or not count.isdigit():
            raise Fault(f"{where}: '{line[:_SHOWN]}' does not begin with its number in the story.")
        if int(count) == 1:
            facts, places, story, told = [], {}, story + 1, 0
        text, *columns = (column.strip() for column in rest.split("\t"))
        if not words_in(text):
            raise Fault(f"{where}: there is no word in it.")
        if not columns:
            places[int(count)] = len(facts)
            facts.append(text)
            told += len(text) + 1
            continue
        asked += told
        if asked > _MOST_ASKED:
            raise Fault(f"{where}: too many questions are asked of long stories; part the file into several.")
        yield Question(tuple(facts), text, _answer(columns, where), _support(columns, places, where), story)
        questions += 1
    if not story:
        raise Fault(f"{name} is empty: it has no story.")
    if not questions:
        raise Fault(f"{name} asks nothing: a question is a line with a tab and its answer.")


def _answer(columns: Sequence[str], where: str) -> str:
    if not columns[0]:
        raise Fault(f"{where}: the question has no answer behind its tab.")
    return columns[0].lower()


def _support(columns: Sequence[str], places: dict[int, int], where: str) -> tuple[int, ...]:
    """The places of the supporting facts, each once, in the order in which the file names them."""
    numbers = columns[1].split() if len(columns) > 1 else []
    for number in numbers:
        if not number.isascii() or not number.isdigit() or int(number) not in places:
            raise Fault(f"{where}: no earlier fact has the number '{number[:_SHOWN]}'.")
    return tuple(dict.fromkeys(places[int(number)] for number in numbers))
