"""Read tagged sentences: columns with a blank line between sentences, or word_TAG with a sentence per line."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from regard.base.faults import Fault
from regard.data.corpora.text import choose_rows, file_of, open_rows
from regard.data.lines import read_lines
from regard.data.tables.columns import Column, Part, columns_in_words, named
from regard.data.tables.reading import NamedTable, Table
from regard.data.tagging.options import SKIPPED, TAG, WORD, TaggingData
from regard.data.tagging.spans import OUTSIDE, Scheme, foreign_tags, misplaced_tags
from regard.data.tokenisers.spaces import split_at_spaces
from regard.data.tokenisers.words import split_words

UNTAGGED = "_"  # marks a missing value in CoNLL-U
_LOOKED_AT = 5_000  # sentences read to recognise a scheme


@dataclass(frozen=True)
class TaggedSentence:
    """The words of a sentence, their tags, and the values of further columns; `text` is the original from the file.

    A sentence to be tagged has no tags yet.
    """

    words: list[str]
    tags: list[str]
    columns: list[list[str]]  # one list for each further column
    text: str = ""


@dataclass
class ReadingReport:
    """Counts of what was found in the sentences of some files."""

    wordless: int = 0  # tokens with a tag but no word
    passed: Counter[str] = field(default_factory=Counter)  # lines that are not words, by kind
    misplaced: int = 0  # tags that do not fit those before them
    first_misplaced: str = ""
    seen: set[str] = field(default_factory=set)  # tags known to belong to the scheme

    def lines(self) -> list[str]:
        """Return lines for people on what was skipped or looks odd."""
        remarks = []
        if self.passed:
            counts = (
                f"{count:,} {kind if count > 1 else kind.removesuffix('s')}" for kind, count in self.passed.items()
            )
            remarks.append(f"skipped: {', '.join(counts)}")
        if self.wordless:
            remarks.append(f"skipped: {self.wordless:,} tags without a word")
        if self.misplaced:
            remarks.append(
                f"{self.misplaced:,} tags do not fit those around them, first in {self.first_misplaced}; "
                "their spans are read as conlleval reads them"
            )
        return remarks


def read_sentences(names: Sequence[str], options: TaggingData, report: ReadingReport) -> Iterator[TaggedSentence]:
    """Yield the sentences of some files in order; refuse unreadable ones with file and line."""
    read = _in_columns if options.layout == "columns" else _on_lines
    for name in names:
        for place, sentence in read(name, options, report):
            if len(sentence.words) > options.longest:
                raise Fault(
                    f"{place}: a sentence has {len(sentence.words):,} words, more than data.longest "
                    f"({options.longest:,}); add a missing blank line, or raise data.longest."
                )
            _check_scheme(sentence, place, options, report)
            yield sentence


def _in_columns(name: str, options: TaggingData, report: ReadingReport) -> Iterator[tuple[str, TaggedSentence]]:
    """Yield each sentence of a file of columns, or of a table of sentences, with the place where it begins."""
    listed = list(options.columns) if isinstance(options.columns, list) else []
    table = open_rows(name, options.chosen, usual="conll", listed=listed)
    if isinstance(table, NamedTable):
        raise Fault(f"{name} is a table of texts; a tagger needs CoNLL-U, columns of words, or JSON lines.")
    names, parts = _columns(table, options)
    is_tagged = False
    has_words = False
    for number, cells in choose_rows(table, parts):
        place = f"{name}, line {number:,}"
        by_column = [split_at_spaces(cell) if isinstance(cell, str) else cell for cell in cells]
        if rows := _words(by_column, names, place, report):
            has_words = True
            is_tagged = is_tagged or any(row[names.index(TAG)] != UNTAGGED for row in rows)
            yield place, _sentence(rows, "\n".join(map(" ".join, rows)), names, options.read_beside)
    if has_words and not is_tagged:
        tag = [column for part in parts for column in part][names.index(TAG)]
        raise Fault(f"{name} has no tags: {tag} is '{UNTAGGED}' for every word; choose another column with --columns.")
    if table.sentences is not None:
        report.passed += table.sentences.passed


def _columns(table: Table, options: TaggingData) -> tuple[list[str], Sequence[Part]]:
    """Return the roles of a file's columns for a tagger, and the columns."""
    if isinstance(options.columns, str):
        return [*options.input_columns, TAG], options.chosen
    if table.kind == "conll":
        return options.columns, [tuple(Column(number=number) for number in range(1, len(options.columns) + 1))]
    if table.kind == "conllu" and options.columns == [WORD, TAG]:
        return [WORD, TAG], named("form", "upos")
    if table.kind == "conllu":
        raise Fault(
            f"{table.file} is a CoNLL-U file; choose its columns, as in --columns form:upos (data.columns), "
            "with further inputs after the word, as in form+upos:xpos."
        )
    names = [name for name in options.columns if name != SKIPPED]
    return names, named(*names)


def _words(
    columns: Sequence[Sequence[str]], names: Sequence[str], place: str, report: ReadingReport
) -> list[Sequence[str]]:
    """Return the words of a sentence with their columns; refuse columns of different lengths."""
    counts = {name: len(column) for name, column in zip(names, columns, strict=True)}
    if len(set(counts.values())) > 1:
        other = next(name for name in names if counts[name] != counts[WORD])
        raise Fault(
            f"{place}: there are {counts[WORD]:,} words, but {counts[other]:,} values of '{other}'; each word "
            "needs one."
        )
    rows = list(zip(*columns, strict=True))
    whole = [row for row in rows if row[names.index(WORD)]]
    report.wordless += len(rows) - len(whole)
    for row in whole:
        if not row[names.index(TAG)]:
            raise Fault(f"{place}: '{row[names.index(WORD)]}' has no tag.")
    return list(whole)


def _on_lines(name: str, options: TaggingData, report: ReadingReport) -> Iterator[tuple[str, TaggedSentence]]:
    """Yield each sentence of a file of lines, with its place; skip tags without a word."""
    columns = list(options.columns)
    for number, line in enumerate(read_lines(file_of(name)), 1):
        place = f"{name}, line {number}"
        tokens = split_at_spaces(line)
        rows = [
            _checked(token.rsplit(options.joint, len(columns) - 1), place, columns, options.joint) for token in tokens
        ]
        word = columns.index(WORD)
        whole = [row for row in rows if row[word]]
        report.wordless += len(rows) - len(whole)
        if whole:
            yield place, _sentence(whole, line, columns, options.read_beside)


def _checked(row: list[str], place: str, columns: Sequence[str], joint: str) -> list[str]:
    """Return the joined columns of a word; refuse if one is missing."""
    if len(row) != len(columns):
        actual = columns_in_words((), len(row))
        raise Fault(
            f"{place}: '{joint.join(row)}' has {actual}, expected {columns_in_words(columns, len(columns))}, with "
            f"'{joint}' between them."
        )
    if not row[columns.index(TAG)]:
        raise Fault(f"{place}: '{joint.join(row)}' has no tag.")
    return row


def _sentence(
    rows: Sequence[Sequence[str]], text: str, names: Sequence[str], read_beside: Sequence[str]
) -> TaggedSentence:
    by_name = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return TaggedSentence(by_name[WORD], by_name[TAG], [by_name[name] for name in read_beside], text)


def fitting_scheme(options: TaggingData) -> str:
    """Return the scheme in which tags spell spans: that of the options if the tags fit it, or the best one.

    It is detected from the first sentences of the training files; 'tags' means that they spell no spans.
    """
    plain = options.model_copy(update={"scheme": "tags"})
    sentences = [
        sentence.tags for sentence in islice(read_sentences(options.train, plain, ReadingReport()), _LOOKED_AT)
    ]
    schemes: list[Scheme] = ["iob2", "iob1", "iobes", "ioe2", "ioe1"]
    if options.scheme != "tags":
        schemes = [options.scheme, *(scheme for scheme in schemes if scheme != options.scheme)]
    possible = [scheme for scheme in schemes if not any(any(foreign_tags(tags, scheme)) for tags in sentences)]
    if not possible or all(tag == OUTSIDE for tags in sentences for tag in tags):
        return "tags"
    return min(possible, key=lambda scheme: sum(len(misplaced_tags(tags, scheme)) for tags in sentences))


def _check_scheme(sentence: TaggedSentence, place: str, options: TaggingData, report: ReadingReport) -> None:
    """Refuse tags that are not in the scheme, and count misplaced ones."""
    if options.scheme == "tags":
        return
    if not report.seen.issuperset(sentence.tags):
        for number, tag in foreign_tags(sentence.tags, options.scheme):
            word = sentence.words[number]
            raise Fault(f"{place}: '{word}' has the tag '{tag}', which is not in data.scheme '{options.scheme}'.")
        report.seen.update(sentence.tags)
    if misplaced := misplaced_tags(sentence.tags, options.scheme):
        report.first_misplaced = report.first_misplaced or place
        report.misplaced += len(misplaced)


def words_of(text: str | Sequence[str], raw: bool) -> list[str]:
    """Return the words of a line, split at spaces or tokenised from raw text, or the given list of words."""
    split = split_words if raw else split_at_spaces
    return split(text) if isinstance(text, str) else list(text)


def read_input(source: str | Sequence[str] | TaggedSentence, options: TaggingData, raw: bool) -> TaggedSentence:
    """Return a sentence to be tagged, given as a line, as words, or with its columns filled in.

    The words of a line are separated by spaces; raw text is first split into words and punctuation. If the model reads
    further columns, they are joined to the word, as in Lisbon_NNP.
    """
    if isinstance(source, TaggedSentence):
        return source
    if raw and options.read_beside:
        raise Fault(
            f"This model also reads the {_named(options)} of each word, which raw text lacks; give a tagger "
            "that finds it: --tagger MODEL, or `tagger` in Python and in requests."
        )
    tokens = words_of(source, raw)
    if not options.read_beside:
        return TaggedSentence(tokens, [], [])
    rows = [token.rsplit(options.joint, len(options.read_beside)) for token in tokens]
    for token, row in zip(tokens, rows, strict=True):
        if len(row) != len(options.input_columns) or not all(row):
            form = options.joint.join(options.input_columns)
            raise Fault(
                f"This model also reads the {_named(options)} of each word; write '{token}' in the form {form}."
            )
    words, *columns = map(list, zip(*rows, strict=True)) if rows else [[] for _ in options.input_columns]
    return TaggedSentence(words, [], columns)


def _named(options: TaggingData) -> str:
    return " and ".join(options.read_beside)
