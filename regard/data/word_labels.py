"""Sentences whose words have labels of several kinds: tag, number, gender, position and links to other words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora.text import file_of
from regard.data.lines import first_lines
from regard.data.tables.formats import kind_by_name
from regard.data.tagging.files import ReadingReport, TaggedSentence, read_sentences
from regard.data.tagging.options import TaggingData

TAGS, NUMBER, GENDER, POSITION, LINKS = "tags", "number", "gender", "position", "links"
KINDS = (TAGS, NUMBER, GENDER, POSITION, LINKS)
LAST_POSITION = 9  # all words from here on are at one position
_JOINED = "_"

Links = Mapping[str, Sequence[tuple[int, int]]]  # for each kind of link, the numbers of both words, counted from 0


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence, its words between spaces, their labels of each kind (None: it has none), and links between them."""

    text: str
    words: Sequence[str]
    labels: Mapping[str, Sequence[str | None]]
    links: Links


def positions(count: int) -> list[str]:
    """Return the position of each of `count` words, counted from 1; those at the end of long sentences share one."""
    return [str(place + 1) if place + 1 < LAST_POSITION else f"{LAST_POSITION}+" for place in range(count)]


def read_tagged(name: str, count: int, columns: str | None = None) -> list[LabelledSentence]:
    """Read the first `count` sentences of a tagged file: columns, CoNLL-U, or word_TAG with a sentence a line.

    `columns` chooses word and tag by number or name, as in form:upos.
    """
    if not file_of(name).is_file():
        raise Fault(f"There is no file {name}.")
    sentences = [_labelled(sentence) for sentence in islice(_read(name, columns), count)]
    if not sentences:
        raise Fault(f"{name} has no tagged sentence.")
    return sentences


def _read(name: str, columns: str | None) -> Iterator[TaggedSentence]:
    is_joined = columns is None and kind_by_name(name) is None and _is_joined(first_lines(file_of(name)))
    chosen = {} if columns is None else {"columns": columns}
    options = check(
        TaggingData, {"train": [name], "layout": "joined" if is_joined else "columns"} | chosen, "--columns"
    )
    return read_sentences(options.train, options, ReadingReport())


def _is_joined(lines: Sequence[str]) -> bool:
    """Return True if nearly every token of the first lines is a word joined to its tag."""
    tokens = [token for line in lines for token in line.split()]
    return bool(tokens) and sum(_JOINED in token[1:] for token in tokens) > 0.9 * len(tokens)


def _labelled(sentence: TaggedSentence) -> LabelledSentence:
    words = sentence.words
    return LabelledSentence(" ".join(words), words, {TAGS: sentence.tags, POSITION: positions(len(words))}, {})
