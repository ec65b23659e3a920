"""Reading sentences with tags: columns with a blank line between sentences, or word_TAG on a line for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.corpora.text import file_of, read_lines
from regard.data.tagging.options import TAG, WORD, TaggingData
from regard.data.tagging.spans import foreign_tags, misplaced_tags
from regard.data.tokenisers.spaces import split_at_spaces
from regard.data.tokenisers.words import split_words


@dataclass(frozen=True)
class TaggedSentence:
    """The words of a sentence, their tags, and what further columns say of each; `text` is as it stood in the file.

    A sentence that people want tags for has none yet.
    """

    words: list[str]
    tags: list[str]
    columns: list[list[str]]  # one list for each column that is read beside the word
    text: str = ""


@dataclass
class ReadingReport:
    """What became of the sentences of some files."""

    wordless: int = 0  # tokens that are a tag and no word
    misplaced: int = 0  # tags that do not belong after those before them
    first_misplaced: str = ""
    seen: set[str] = field(default_factory=set)  # tags known to be of the scheme

    def lines(self) -> list[str]:
        """What was passed over or looks odd, for people."""
        said = []
        if self.wordless:
            said.append(f"passed over: {self.wordless:,} tags without a word")
        if self.misplaced:
            said.append(
                f"{self.misplaced:,} tags do not fit those around them, first in {self.first_misplaced}; "
                "their spans are read as conlleval reads them"
            )
        return said


def read_sentences(names: Sequence[str], options: TaggingData, report: ReadingReport) -> Iterator[TaggedSentence]:
    """The sentences of some files, in their order; what cannot be read is refused with its file and line."""
    read = _in_columns if options.layout == "columns" else _on_lines
    for name in names:
        for place, sentence in read(name, options, report):
            if len(sentence.words) > options.longest:
                raise Fault(
                    f"{place}: a sentence of {len(sentence.words):,} words, more than the {options.longest:,} of "
                    "data.longest; is a blank line missing? Raise data.longest if it is meant to be one."
                )
            _check_scheme(sentence, place, options, report)
            yield sentence


def _in_columns(name: str, options: TaggingData, report: ReadingReport) -> Iterator[tuple[str, TaggedSentence]]:
    """Each sentence of a file of columns, with the place where it begins."""
    rows: list[list[str]] = []
    first = 0
    for number, line in enumerate(read_lines(file_of(name)), 1):
        if row := split_at_spaces(line):
            first = first if rows else number
            rows.append(_checked(row, f"{name}, line {number}", options))
        elif rows:
            yield f"{name}, line {first}", _sentence(rows, "\n".join(map(" ".join, rows)), options)
            rows = []
    if rows:
        yield f"{name}, line {first}", _sentence(rows, "\n".join(map(" ".join, rows)), options)


def _on_lines(name: str, options: TaggingData, report: ReadingReport) -> Iterator[tuple[str, TaggedSentence]]:
    """Each sentence of a file of lines, with its place; a tag that no word stands before is passed over."""
    for number, line in enumerate(read_lines(file_of(name)), 1):
        place = f"{name}, line {number}"
        tokens = split_at_spaces(line)
        rows = [_checked(token.rsplit(options.joint, len(options.columns) - 1), place, options) for token in tokens]
        word = options.columns.index(WORD)
        whole = [row for row in rows if row[word]]
        report.wordless += len(rows) - len(whole)
        if whole:
            yield place, _sentence(whole, line, options)


def _checked(row: list[str], place: str, options: TaggingData) -> list[str]:
    """The columns of a word, refused where one is missing or there is one too many."""
    named = ", ".join(options.columns)
    if len(row) != len(options.columns):
        shown = (" " if options.layout == "columns" else options.joint).join(row)
        raise Fault(f"{place}: '{shown}' has {quantity(len(row), 'column')}, expected {len(options.columns)}: {named}.")
    if not row[options.columns.index(TAG)]:
        raise Fault(f"{place}: '{options.joint.join(row)}' has no tag.")
    return row


def _sentence(rows: Sequence[Sequence[str]], text: str, options: TaggingData) -> TaggedSentence:
    by_name = dict(zip(options.columns, map(list, zip(*rows, strict=True)), strict=True))
    return TaggedSentence(by_name[WORD], by_name[TAG], [by_name[name] for name in options.read_beside], text)


def _check_scheme(sentence: TaggedSentence, place: str, options: TaggingData, report: ReadingReport) -> None:
    """Refuse tags that the scheme does not have, and count those that stand where it has others."""
    if options.scheme == "tags":
        return
    if not report.seen.issuperset(sentence.tags):
        for number, tag in foreign_tags(sentence.tags, options.scheme):
            word = sentence.words[number]
            raise Fault(f"{place}: '{word}' has the tag '{tag}', which is none of data.scheme '{options.scheme}'.")
        report.seen.update(sentence.tags)
    if found := misplaced_tags(sentence.tags, options.scheme):
        report.first_misplaced = report.first_misplaced or place
        report.misplaced += len(found)


def read_input(given: str | Sequence[str], options: TaggingData, raw: bool) -> TaggedSentence:
    """A sentence that people want tags for: a line, or words that were cut before.

    The words of a line are parted by spaces; a raw text is cut into words and punctuation marks first. Where the model
    reads columns beside the word, they are joined to it as in Lisbon_NNP.
    """
    if raw and options.read_beside:
        raise Fault(f"This model reads {_named(options)} beside each word, which raw text does not have.")
    cut = split_words if raw else split_at_spaces
    tokens = cut(given) if isinstance(given, str) else list(given)
    if not options.read_beside:
        return TaggedSentence(tokens, [], [])
    rows = [token.rsplit(options.joint, len(options.read_beside)) for token in tokens]
    for token, row in zip(tokens, rows, strict=True):
        if len(row) != len(options.input_columns) or not all(row):
            form = options.joint.join(options.input_columns)
            raise Fault(f"This model reads {_named(options)} beside each word; write '{token}' in the form {form} too.")
    words, *columns = map(list, zip(*rows, strict=True)) if rows else [[] for _ in options.input_columns]
    return TaggedSentence(words, [], columns)


def _named(options: TaggingData) -> str:
    return " and ".join(options.read_beside)
