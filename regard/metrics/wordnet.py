"""WordNet: English words that share a meaning (Miller 1995).

A synset is a set of words with one meaning. The data set `wordnet` of the catalogue holds Princeton's index files,
which name the synsets of every base form, and its exception lists, which map irregular forms to base forms. Regular
forms lose their endings by the rules of WordNet's own search. The formats are those of the manual pages wndb(5WN) and
morphy(7WN).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from regard.base.faults import Fault
from regard.data.catalogue.entries import find, locate, presence
from regard.data.catalogue.unpack import open_content

NAME = "wordnet"
_PARTS = ("noun", "verb", "adj", "adv")
_ENDINGS = {
    "noun": ["s:", "ses:s", "xes:x", "zes:z", "ches:ch", "shes:sh", "men:man", "ies:y"],
    "verb": ["s:", "ies:y", "es:e", "es:", "ed:e", "ed:", "ing:e", "ing:"],
    "adj": ["er:", "est:", "er:e", "est:e"],
    "adv": [],
}

Synset = tuple[str, int]  # part of speech, and a number that is unique in it


@dataclass(frozen=True)
class WordNet:
    """Synsets of base forms, and irregular forms, by part of speech."""

    synsets: dict[str, dict[str, tuple[int, ...]]]
    irregular: dict[str, dict[str, tuple[str, ...]]]

    def meanings(self, word: str) -> frozenset[Synset]:
        """Return every synset that a lower-case word may stand for, as a base form or an inflected one."""
        return frozenset(
            (part, number)
            for part in _PARTS
            for form in self._base_forms(word, part)
            for number in self.synsets[part].get(form, ())
        )

    def _base_forms(self, word: str, part: str) -> Iterator[str]:
        yield word
        if word in self.irregular[part]:
            yield from self.irregular[part][word]
            return  # an exception prevents the rules from being tried
        for rule in _ENDINGS[part]:
            ending, replacement = rule.split(":")
            if word.endswith(ending):
                yield word.removesuffix(ending) + replacement


def wordnet() -> WordNet | None:
    """Return WordNet if its data set is in the data folder, otherwise None."""
    entry = find(NAME)
    return _read(entry.folder) if presence(entry) == "here" else None


@lru_cache(1)
def _read(folder: Path) -> WordNet:
    """Read all of WordNet; `folder` only distinguishes one WordNet from another."""
    irregular = {part: _exceptions(f"{part}.exc") for part in _PARTS}
    return WordNet({part: _index(f"index.{part}") for part in _PARTS}, irregular)


def _index(name: str) -> dict[str, tuple[int, ...]]:
    """Parse lines such as `dog n 7 5 @ ~ … 02084071 10114209 …`; the third field is the number of final synsets."""
    synsets = {}
    for fields in _lines(name):
        try:
            synsets[fields[0]] = tuple(int(number) for number in fields[-int(fields[2]) :])
        except (ValueError, IndexError):
            raise Fault(f"{name} of the data set {NAME} is damaged; delete it and get the set again.") from None
    return synsets


def _exceptions(name: str) -> dict[str, tuple[str, ...]]:
    """Parse lines such as `geese goose`: a form and its base forms."""
    return {form: tuple(bases) for form, *bases in _lines(name)}


def _lines(name: str) -> Iterator[list[str]]:
    with open_content(locate(f"{NAME}:{name}")) as stream:
        for line in stream:
            if line.strip() and not line.startswith(b"  "):  # the licence comes first, indented
                yield line.decode("utf-8").split()
