"""Translation memories: units of text in several languages, in TMX and XLIFF files.

Languages are the columns. `en` also finds `en-US`, if a unit has no plain `en`. Formatting inside a text is left out,
and the text that it encloses stays.
"""

import logging
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.lines import raw_lines
from regard.data.tables.columns import Column
from regard.data.tables.formats import NAMES, kind_by_name
from regard.data.tables.reading import NamedTable, Row

MEMORIES = ("tmx", "xliff")  # kinds of table

_LOG = logging.getLogger(__name__)
_LONGEST = 2**24  # characters of a text, and bytes of a tag
_DEEPEST = 100  # elements inside each other
_PEEKED = 1000  # units whose languages are listed
_BREAK = re.compile(r"\s*[\r\n]\s*")
_UNITS = {"tu", "trans-unit", "segment"}
_TEXTS = {"seg", "source", "target"}
_CODES = {"bpt", "ept", "it", "ph", "ut", "sub"}  # inline elements whose content is formatting
_OTHERS = {"alt-trans", "match", "ignorable"}  # proposals of a tool and what is not for translation


class Unit(NamedTuple):
    """The texts of a unit by language, and the line where it begins."""

    line: int
    texts: dict[str, str]


def is_memory(name: str) -> bool:
    """Return True if a file's name is that of a translation memory."""
    return kind_by_name(name) in MEMORIES


def memory_languages(name: str, path: Path) -> list[str]:
    """Return the languages of a memory's first units, the source language first."""
    reader = _Reader(name, path)
    found = dict.fromkeys(language for unit in islice(reader.units(), _PEEKED) for language in unit.texts)
    return sorted(found, key=lambda language: not _is_variety(language, reader.source))


def usual_languages(name: str, path: Path) -> tuple[str, str]:
    """Return source and target of a memory in two languages; refuse others."""
    languages = memory_languages(name, path)
    if len(languages) == 2:
        return languages[0], languages[1]
    if len(languages) < 2:
        raise Fault(
            f"{name} has {f'texts in {languages[0]} alone' if languages else 'no texts'}; pairs need two languages."
        )
    raise Fault(f"{name} has texts in {', '.join(languages)}; choose two with --columns, as in --columns en:pt.")


def main_language(language: str) -> str:
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
                listed = ", ".join(memory_languages(self.file, self.path)) or "no texts"
                raise Fault(f"{self.file} has no texts in '{language}'; it has {listed}.")
            if missing:
                _LOG.warning(
                    f"{self.file}: {missing:,} of {quantity(count, 'unit')} skipped, without a text in '{language}'"
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
    location: Path
    source: str = "source"  # language of what is translated
    target: str = "target"
    ready: list[Unit] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)  # names of the open elements
    line: int = 0  # where the unit begins
    language: str = ""  # of the current text
    texts: dict[str, str] | None = None  # of the current unit
    text: list[str] | None = None  # pieces of the current text
    length: int = 0

    def units(self) -> Iterator[Unit]:
        """Yield the units that have any text."""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._add
        self.parser.EntityDeclHandler = self._refuse_entities
        self.parser.SkippedEntityHandler = self._refuse_entity
        given = 0
        try:
            for line in raw_lines(self.location):
                self.parser.Parse(line, False)
                given += len(line)
                if given - max(0, self.parser.CurrentByteIndex) > _LONGEST + len(line):
                    raise self._fault(f"has a tag of more than {_LONGEST:,} bytes")
                yield from self._taken()
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise Fault(f"{self.file}, line {error.lineno:,} is not well-formed XML: {reason}.") from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not know, or has no table for
            raise Fault(f"{self.file} cannot be decoded: {error}.") from None
        yield from self._taken()

    def _taken(self) -> list[Unit]:
        taken, self.ready = self.ready, []
        return taken

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if not self.opened:
            self._begin(name, attributes)
        self.opened.append(name)
        if len(self.opened) > _DEEPEST:
            raise self._fault(f"has elements inside each other, more than {_DEEPEST} deep")
        match name:
            case "header":
                self.source = attributes.get("srclang", self.source)
            case "file":  # of XLIFF 1
                self.source = attributes.get("source-language", self.source)
                self.target = attributes.get("target-language", self.target)
            case "tuv":
                self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        if name in _UNITS:
            self.texts, self.line = {}, self.parser.CurrentLineNumber
        elif name in _TEXTS and self.text is None and self.texts is not None and not _OTHERS.intersection(self.opened):
            self.text, self.length = [], 0
            if name != "seg":
                self.language = attributes.get("xml:lang") or (self.source if name == "source" else self.target)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        """Read the root element."""
        kind = kind_by_name(self.file)
        if name != kind:
            assert kind is not None
            raise Fault(f"{self.file} is not {NAMES[kind]}: its first element is <{name[:40]}>, not <{kind}>.")
        self.source = attributes.get("srcLang", self.source)  # of XLIFF 2
        self.target = attributes.get("trgLang", self.target)

    def _add(self, text: str) -> None:
        if self.text is None or _CODES.intersection(self.opened):
            return
        self.length += len(text)
        if self.length > _LONGEST:
            raise self._fault(f"has a text of more than {_LONGEST:,} characters")
        self.text.append(text)

    def _end(self, tag: str) -> None:
        name = self.opened.pop()
        if name in _UNITS and self.texts is not None:
            if self.texts:
                self.ready.append(Unit(self.line, self.texts))
            self.texts = None
        elif name in _TEXTS and self.text is not None and self.texts is not None:
            text = _BREAK.sub(" ", unicodedata.normalize("NFC", "".join(self.text))).strip()
            if text:
                self.texts.setdefault(self._known_language(), text)
            self.text = None

    def _known_language(self) -> str:
        if not self.language:
            raise self._fault("ends a text whose language is unknown; its <tuv> needs xml:lang")
        return self.language

    def _refuse_entities(self, name: str, *_: object) -> None:
        raise self._fault(f"declares the entity '{name[:40]}', which could unpack to anything; write its text instead")

    def _refuse_entity(self, name: str, is_parameter: bool) -> None:
        raise self._fault(f"has the entity '{name[:40]}', which XML does not define; write its character instead")

    def _fault(self, reason: str) -> Fault:
        return Fault(f"{self.file}, line {self.parser.CurrentLineNumber:,} {reason}.")
