"""Read stories in bAbI's format: single files, a folder or an archive.

A line of such a file is its number, starting at 1 in every story, and a fact; or a question, a tab, its answer, and
optionally another tab and the numbers of the supporting facts. An answer of several words with commas is one answer.
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

LARGEST = 2**30  # bytes in all files of a folder or archive
_IN_A_SET = re.compile(r"[\w-]+:")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SPLIT = re.compile(r"_(train|valid|test)$")
_MOST_ASKED = 200_000_000  # characters of stories before all questions of a file, each of which keeps its story
_SHOWN = 60  # characters of a line in a fault


@dataclass(frozen=True)
class Question:
    """A question, the facts told before it, and the places among them of those that support its answer."""

    facts: Sequence[str]
    question: str
    answer: str
    support: Sequence[int]
    story: int  # number of its story in its file


@dataclass(frozen=True)
class StoryFile:
    """The questions of one file, and its name without suffix and split."""

    name: str
    questions: Sequence[Question]


def words_in(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return _WORD.findall(sentence.lower())


def read_story_files(name: str) -> list[StoryFile]:
    """Read the files that a name in a recipe refers to, in the order of the numbers in their names."""
    return [StoryFile(_part(path), list(_questions(lines, path))) for path, lines in sorted(_files(name), key=_order)]


def check_there(name: str) -> None:
    """Refuse a name that matches no file, without reading any; an archive is checked only when it is read."""
    root, _ = _root(name)
    if not _IN_A_SET.match(name) and not list(root.parent.glob(root.name)):
        raise Fault(f"There is no file {name}.")


def _root(name: str) -> tuple[Path, str]:
    """Return the file, folder or archive that a name begins with, and the path inside it."""
    if not _IN_A_SET.match(name):
        return Path(name).expanduser(), ""
    top, _, inner = name.partition("/")
    return locate(top), inner


def _files(name: str) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the path and lines of each file that a name refers to."""
    root, inner = _root(name)
    if not inner:
        files = [(str(path), read_lines(path)) for path in root.parent.glob(root.name) if path.is_file()]
    else:
        try:
            members = [(path, stream.read()) for path, stream in archive_members(root, LARGEST) if _fits(path, inner)]
        except Unusable as reason:
            raise Fault(f"{root} {reason}.") from None
        files = [(path, read_stream(BytesIO(content), path)) for path, content in members]
    if not files:
        raise Fault(f"There is no file {name}.")
    yield from files


def _fits(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) and path.count("/") == pattern.count("/")


def _order(file: tuple[str, Iterable[str]]) -> list[tuple[int, str]]:
    return natural_order(file[0])


def _part(path: str) -> str:
    return _SPLIT.sub("", path.rpartition("/")[2].partition(".")[0])


def _questions(lines: Iterable[str], name: str) -> Iterator[Question]:
    facts: list[str] = []
    places: dict[int, int] = {}  # of facts, by their line numbers in the story
    story = questions = length = total_length = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        count, _, rest = line.strip().partition(" ")
        if not count.isascii() or not count.isdigit():
            raise Fault(f"{where}: '{line[:_SHOWN]}' does not begin with its number in the story.")
        if int(count) == 1:
            facts, places, story, length = [], {}, story + 1, 0
        text, *columns = (column.strip() for column in rest.split("\t"))
        if not words_in(text):
            raise Fault(f"{where}: there is no word in it.")
        if not columns:
            places[int(count)] = len(facts)
            facts.append(text)
            length += len(text) + 1
            continue
        total_length += length
        if total_length > _MOST_ASKED:
            raise Fault(f"{where}: there are too many questions about long stories; split the file.")
        yield Question(tuple(facts), text, _answer(columns, where), _support(columns, places, where), story)
        questions += 1
    if not story:
        raise Fault(f"{name} is empty: it has no story.")
    if not questions:
        raise Fault(f"{name} has no questions: a question is a line with a tab and its answer.")


def _answer(columns: Sequence[str], where: str) -> str:
    if not columns[0]:
        raise Fault(f"{where}: the question has no answer after its tab.")
    return columns[0].lower()


def _support(columns: Sequence[str], places: dict[int, int], where: str) -> tuple[int, ...]:
    """Return the places of the supporting facts without repeats, in the order in which the file names them."""
    numbers = columns[1].split() if len(columns) > 1 else []
    for number in numbers:
        if not number.isascii() or not number.isdigit() or int(number) not in places:
            raise Fault(f"{where}: no earlier fact has the number '{number[:_SHOWN]}'.")
    return tuple(dict.fromkeys(places[int(number)] for number in numbers))
