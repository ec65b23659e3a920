"""Translation memories: units of text in several languages, in TMX and XLIFF files.

Languages are the columns. `en` also finds `en-US`, if a unit has no plain `en`. Formatting inside a text is left out,
and the text that it encloses stays. Targets that their file marks as not translated yet are left out, too.
"""

import logging
import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.lines import raw_blocks
from regard.data.tables.columns import Column, listed_names
from regard.data.tables.formats import NAMES, kind_by_name
from regard.data.tables.reading import NamedTable, Row

MEMORIES = ("tmx", "xliff")  # kinds of table

_LOG = logging.getLogger(__name__)
_LONGEST = 2**24  # characters of a text
_LONGEST_TAG = 2**20  # bytes; a longer one, or a comment, takes time that grows with its square
_LONGEST_LANGUAGE = 64  # characters
_DEEPEST = 100  # elements inside each other
_PEEKED = 1000  # units, at least, whose languages are listed
_LINE_ENDS = re.compile(r"[\r\n]+")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']""")
_MARKS = {  # first bytes, which tell the encoding before anything is declared
    BOM_UTF8: "utf-8-sig",
    BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
_UNITS = ("tu", "trans-unit", "segment")
_TEXTS = {"seg": ("tuv",), "source": _UNITS, "target": _UNITS}  # elements with text, and those that they belong to
_CODES = {"bpt", "ept", "it", "ph", "ut", "sub"}  # inline elements whose content is formatting
_NOT_YET = ("new", "needs-translation", "initial")  # states of a target that nobody has translated


class Unit(NamedTuple):
    """The texts of a unit by language, and the line where it begins."""

    line: int
    texts: dict[str, str]


def is_memory(name: str) -> bool:
    """Return True if a file's name is that of a translation memory."""
    return kind_by_name(name) in MEMORIES


def usual_languages(name: str, path: Path) -> tuple[str, str]:
    """Return source and target of a memory in two languages, whatever their varieties; refuse others."""
    languages = _languages_in(name, path)
    main = list(dict.fromkeys(map(_main_language, languages)))
    for pair in (main, languages):
        if len(pair) == 2:
            return pair[0], pair[1]
    if len(languages) < 2:
        alone = f"texts in {listed_names(languages)} alone" if languages else "no texts"
        raise Fault(f"{name} has {alone}; pairs need two languages.")
    raise Fault(f"{name} has texts in {listed_names(languages)}; choose two with --columns, as in --columns en:pt.")


def _languages_in(name: str, path: Path) -> list[str]:
    """Return the languages of a memory's first units, the source language first."""
    reader = _Reader(name, path)
    languages: dict[str, str] = {}  # by their normal form
    for number, unit in enumerate(reader.units(), 1):
        for language in unit.texts:
            languages.setdefault(_normal(language), language)
        if number >= _PEEKED and len(languages) > 1:
            break

    def distance(language: str) -> int:
        return 2 - (_main_language(language) == _main_language(reader.source)) - _is_variety(language, reader.source)

    return sorted(languages.values(), key=distance)


def _main_language(language: str) -> str:
    """Return `en` for `en-US`."""
    return _normal(language).partition("-")[0]


@dataclass(frozen=True)
class MemoryTable(NamedTable):
    """A translation memory, whose columns are its languages."""

    path: Path

    def choose(self, columns: Sequence[Column]) -> Iterator[Row]:
        """Return the texts of the units that have all of these languages; warn of the others at the end."""
        if numbers := [column.number for column in columns if not column.name]:
            raise Fault(f"{self.file} has languages as columns; choose them by name, not by the number {numbers[0]}.")
        return self._rows([column.name for column in columns])

    def _rows(self, languages: Sequence[str]) -> Iterator[Row]:
        count, lacking = 0, dict.fromkeys(languages, 0)
        for unit in _Reader(self.file, self.path).units():
            count += 1
            there = [_nearest(language, tuple(unit.texts)) for language in languages]
            if None not in there:
                yield Row(unit.line, [unit.texts[language] for language in there if language])
                continue
            for language, other in zip(languages, there, strict=True):
                lacking[language] += other is None
        for language, missing in lacking.items():
            if missing == count:
                raise self._unknown(language)
            if missing:
                _LOG.warning(
                    f"{self.file}: {missing:,} of {quantity(count, 'unit')} skipped, without a text in '{language}'"
                )

    def _unknown(self, language: str) -> Fault:
        languages = _languages_in(self.file, self.path)
        advice = f"; choose with --columns, as in --columns {':'.join(languages[:2])}" if len(languages) > 1 else ""
        return Fault(
            f"{self.file} has no texts in '{language}'; it has {listed_names(languages) or 'no texts'}{advice}."
        )


@lru_cache
def _nearest(language: str, others: tuple[str, ...]) -> str | None:
    """Return the one of some languages that is this language, or else a variety of it."""
    exact = (other for other in others if _normal(other) == _normal(language))
    return next(exact, None) or next((other for other in others if _is_variety(other, language)), None)


def _is_variety(language: str, of: str) -> bool:
    return f"{_normal(language)}-".startswith(f"{_normal(of)}-")


def _normal(language: str) -> str:
    return language.lower().replace("_", "-")


@dataclass
class _Reader:
    """Reads a memory from beginning to end; what it has seen is needed for what follows."""

    file: str
    path: Path
    parser: Any = field(default_factory=expat.ParserCreate)
    source: str = "source"  # language of what is translated
    target: str = "target"
    ready: list[Unit] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)  # names of the open elements
    line: int = 0  # where the unit begins
    is_fixed: bool = False  # the unit of XLIFF 2 is not for translation
    is_untranslated: bool = False  # the segment or unit has no translation yet, by its attributes
    language: str = ""  # of the current text
    texts: dict[str, str] | None = None  # of the current unit
    text: list[str] | None = None  # pieces of the current text
    depth: int = 0  # of the element that holds the current text
    length: int = 0

    def units(self) -> Iterator[Unit]:
        """Yield the units that have any text."""
        parser = self.parser
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._add
        parser.EntityDeclHandler, parser.SkippedEntityHandler = self._refuse_declared, self._refuse_entity
        parser.AttlistDeclHandler = self._refuse_default
        given = 0
        try:
            for block in self._decoded():
                parser.Parse(block, False)
                given += len(block.encode())
                if given - max(0, parser.CurrentByteIndex) > _LONGEST_TAG:
                    raise self._fault(f"has a tag or comment of more than {_LONGEST_TAG:,} bytes")
                yield from self._taken()
            parser.Parse("", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise Fault(f"{self.file}, line {error.lineno:,} is not well-formed XML: {reason}.") from None
        except UnicodeError as error:
            why = getattr(error, "reason", str(error))
            raise Fault(f"{self.file}, near line {parser.CurrentLineNumber:,} cannot be decoded: {why}.") from None
        yield from self._taken()

    def _decoded(self) -> Iterator[str]:
        """Yield the text of the file; the parser does not know every encoding that Python knows."""
        blocks = raw_blocks(self.path)
        first = next(blocks, b"")
        decoder = getincrementaldecoder(self._encoding(first))()
        for block in chain([first], blocks):
            yield decoder.decode(block)
        yield decoder.decode(b"", True)

    def _encoding(self, beginning: bytes) -> str:
        """Return the encoding of a file by its mark or declaration; that of XML is UTF-8 otherwise."""
        for mark, name in _MARKS.items():
            if beginning.startswith(mark):
                return name
        declared = _DECLARED.match(beginning)
        name = declared[1].decode() if declared else "utf-8"
        try:
            "<".encode(name)
        except LookupError:  # also of what is no encoding of text
            raise Fault(f"{self.file} cannot be decoded: '{name[:40]}' is no known encoding.") from None
        return name

    def _taken(self) -> list[Unit]:
        taken, self.ready = self.ready, []
        return taken

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if not self.opened:
            self._begin(name, attributes)
        parent = self.opened[-1] if self.opened else ""
        self.opened.append(name)
        if len(self.opened) > _DEEPEST:
            raise self._fault(f"has elements inside each other, more than {_DEEPEST} deep")
        if self.text is not None:
            if name == "cp":  # a character that XML cannot hold
                self._add(" ")
        elif name in _UNITS:
            self.texts, self.line = {}, self.parser.CurrentLineNumber
            is_fixed = self.is_fixed or attributes.get("translate") == "no"
            self.is_untranslated = is_fixed or attributes.get("state") in _NOT_YET
        elif self.texts is not None and parent in _TEXTS.get(name, ()):
            self._begin_text(name, attributes)
        else:
            self._read_about(name, attributes)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        """Read the root element."""
        kind = kind_by_name(self.file)
        if name != kind:
            assert kind is not None
            raise Fault(f"{self.file} is not {NAMES[kind]}: its first element is <{name[:40]}>, not <{kind}>.")
        self.source = attributes.get("srcLang", self.source)  # of XLIFF 2
        self.target = attributes.get("trgLang", self.target)

    def _begin_text(self, name: str, attributes: dict[str, str]) -> None:
        is_target = name == "target"
        if is_target and (self.is_untranslated or attributes.get("state") in _NOT_YET):
            return
        self.text, self.length, self.depth = [], 0, len(self.opened)
        if name != "seg":
            self.language = attributes.get("xml:lang") or (self.target if is_target else self.source)

    def _read_about(self, name: str, attributes: dict[str, str]) -> None:
        """Read the languages of what follows."""
        if name == "header":
            self.source = attributes.get("srclang", self.source)
        elif name == "file" and "source-language" in attributes:  # of XLIFF 1
            self.source, self.target = attributes["source-language"], attributes.get("target-language", "target")
        elif name == "unit":
            self.is_fixed = attributes.get("translate") == "no"
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""

    def _add(self, text: str) -> None:
        if self.text is None or _CODES.intersection(self.opened):
            return
        self.length += len(text)
        if self.length > _LONGEST:
            raise self._fault(f"has a text of more than {_LONGEST:,} characters")
        self.text.append(text)

    def _end(self, tag: str) -> None:
        if self.text is not None and self.texts is not None and len(self.opened) == self.depth:
            lines = _LINE_ENDS.split(unicodedata.normalize("NFC", "".join(self.text)))
            if text := " ".join(filter(None, (line.strip() for line in lines))):
                self.texts.setdefault(self._known_language(), text)
            self.text = None
        name = self.opened.pop()
        if name in _UNITS and self.texts is not None:
            if self.texts:
                self.ready.append(Unit(self.line, self.texts))
            self.texts = None

    def _known_language(self) -> str:
        if not self.language:
            raise self._fault("ends a text whose language is unknown; its <tuv> needs xml:lang")
        if len(self.language) > _LONGEST_LANGUAGE:
            raise self._fault(f"ends a text whose language has more than {_LONGEST_LANGUAGE} letters")
        return self.language

    def _refuse_declared(self, name: str, *_: object) -> None:
        raise self._fault(f"declares the entity '{name[:40]}', which could unpack to anything; write its text instead")

    def _refuse_default(self, element: str, attribute: str, kind: str, default: str | None, required: bool) -> None:
        if default is not None:
            raise self._fault(f"declares a default of the attribute '{attribute[:40]}'; write it where it is needed")

    def _refuse_entity(self, name: str, is_parameter: bool) -> None:
        raise self._fault(f"has the entity '{name[:40]}', which XML does not define; write its character instead")

    def _fault(self, reason: str) -> Fault:
        return Fault(f"{self.file}, line {self.parser.CurrentLineNumber:,} {reason}.")
