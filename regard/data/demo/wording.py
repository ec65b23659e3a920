"""Words of generated sentences with their meanings, and the links that follow from them.

A meaning is a name such as `object.noun`, shared by all languages. Two words of a pair with a common meaning have a
sure link. A word that only accompanies another (the *do* of *do you eat*) has that meaning as `near`, and its link is
possible. Links within a sentence, such as from an adjective to its noun, are found by the same names.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import NamedTuple

from regard.base.faults import Fault

Roles = dict[str, list[tuple[int, int]]]  # for each kind of link, the numbers of both words, counted from 0
SECOND = "2:"  # prefix of the meanings in a second clause
PHRASES = ("subject", "object", "recipient", "place")
ROLES = (
    "verb-subject", "verb-object", "adjective-noun", "determiner-noun", "number-noun", "owner-noun", "negation",
    "antecedent",
)  # fmt: skip


class Word(NamedTuple):
    """A word, its meanings, and the meanings it accompanies."""

    text: str
    means: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


Words = tuple[Word, ...]


class Conjunction(NamedTuple):
    """The words between two clauses, and whether a comma precedes them."""

    words: Words = ()
    comma: bool = False

    @classmethod
    def of(cls, text: str, meaning: str) -> "Conjunction":
        """Parse a conjunction such as ", потому что"."""
        return cls(tuple(Word(word, (meaning,)) for word in text.strip(", ").split()), text.startswith(","))


class Wording(NamedTuple):
    """A sentence as words and the mark at its end.

    `subjects` holds, clause by clause, the meaning that the verb agrees with, or an empty string; in some languages it
    is not the English subject. `antecedent` holds the meanings of a pronoun and its antecedent.
    """

    words: Words
    mark: str
    subjects: tuple[str, ...] = ("subject.noun",)
    antecedent: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        text = " ".join(word.text for word in self.words)
        return f"{text[0].upper()}{text[1:]}{self.mark}"


@cache
def entry_words(entry: str, meaning: str) -> Words:
    """Return the words of an English entry; in a longer one, such as *last week*, each means a part of it."""
    return tuple(Word(part, (name,)) for part, name in _parts(entry, meaning).items())


@cache
def glossed_words(text: str, entry: str, meaning: str, glosses: tuple[str, ...] | None) -> Words:
    """Return the words that translate an English entry, each with the part of the entry that its gloss names.

    A single word translates the whole entry. Several words need a gloss each: `week`, or `week?` if the link is
    possible.
    """
    parts = _parts(entry, meaning)
    words = text.split()
    if glosses is not None:
        return glossed(words, glosses, parts)
    if len(words) > 1:
        raise Fault(f"links.toml does not say what each word of '{text}' stands for.")
    return tuple(Word(word, tuple(parts.values())) for word in words)


def glossed(words: Sequence[str], glosses: Sequence[str], names: Mapping[str, str]) -> Words:
    """Return words with the meanings that their glosses name; "a b" are two meanings, and "a?" is only nearby."""
    if len(words) != len(glosses):
        raise Fault(f"links.toml has {len(glosses)} glosses for '{' '.join(words)}'; each word needs one.")
    result = []
    for word, gloss in zip(words, glosses, strict=True):
        gloss_names = gloss.split()
        means = tuple(names.get(name, name) for name in gloss_names if name[-1] != "?")
        near = tuple(names.get(name[:-1], name[:-1]) for name in gloss_names if name[-1] == "?")
        result.append(Word(word, means, near))
    return tuple(result)


def _parts(entry: str, meaning: str) -> dict[str, str]:
    """Return the names of the meanings of an entry's words."""
    words = entry.split()
    return {word: meaning if len(words) == 1 else f"{meaning}/{word}" for word in words}


def join_words(first: Word, second: Word, text: str) -> Word:
    """Return two words as one with the meanings of both, such as de + o = do."""
    return Word(text, first.means + second.means, first.near + second.near)


@cache
def template_pieces(template: str) -> tuple[tuple[str, bool], ...]:
    """Return a template in pieces, each a slot (True) or consecutive fixed words (False)."""
    pieces: list[tuple[str, bool]] = []
    for literal, slot, _, _ in Formatter().parse(template[:-1]):
        if literal.strip():
            pieces.append((literal.strip(), False))
        if slot:
            pieces.append((slot, True))
    return tuple(pieces)


def fill_template(
    template: str, slots: Mapping[str, Words], literal: Callable[[str], Words], subject: str = "subject.noun"
) -> Wording:
    """Fill the slots of a template; empty slots vanish, and `literal` gives the fixed words."""
    words: list[Word] = []
    for piece, is_slot in template_pieces(template):
        words += slots[piece] if is_slot else literal(piece)
    return Wording(tuple(words), template[-1], (subject,))


def join_clauses(first: Wording, conjunction: Conjunction, second: Wording, pronoun: str, antecedent: str) -> Wording:
    """Join two clauses into one sentence, or into two if there is no conjunction.

    `pronoun` is the meaning of a pronoun in the second clause, `antecedent` that of the phrase it stands for in the
    first.
    """
    *before, last = first.words
    mark = "," if conjunction.comma else "" if conjunction.words else first.mark
    following = [
        Word(word.text, tuple(SECOND + name for name in word.means), tuple(SECOND + name for name in word.near))
        for word in second.words
    ]
    if not conjunction.words:
        text = following[0].text
        following[0] = following[0]._replace(text=text[0].upper() + text[1:])
    words = (*before, last._replace(text=last.text + mark), *conjunction.words, *following)
    return Wording(words, second.mark, first.subjects + second.subjects, (SECOND + pronoun, antecedent))


class WordLinks(NamedTuple):
    """Pairs of source and target word numbers that translate each other: sure links, and possible ones."""

    sure: list[tuple[int, int]]
    possible: list[tuple[int, int]]

    def __str__(self) -> str:
        """Return the links in Pharaoh's format: 0-0 1-2, and 3p4 for a possible one."""
        marked = [(link, "-") for link in self.sure] + [(link, "p") for link in self.possible]
        return " ".join(f"{source}{mark}{target}" for (source, target), mark in sorted(marked))


def word_links(source: Sequence[Word], target: Sequence[Word]) -> WordLinks:
    """Return the links between the words of a pair."""
    links = WordLinks([], [])
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            if not {*one.means}.isdisjoint(other.means):
                links.sure.append((i, j))
            elif not {*one.means}.isdisjoint(other.near) or not {*one.near}.isdisjoint(other.means):
                links.possible.append((i, j))
    return links


def roles(wording: Wording) -> Roles:
    """Return the links within a sentence, kind by kind: [verb, subject], [adjective, noun], [not, verb], …"""
    places: dict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(wording.words):
        for meaning in word.means:
            places[meaning.partition("/")[0]].append(number)
    links_by_kind: Roles = {kind: [] for kind in ROLES}
    for kind, one, other in _between(wording, places):
        links_by_kind[kind] += [(i, j) for i in places.get(one, ()) for j in places.get(other, ()) if i != j]
    return {kind: sorted(set(links)) for kind, links in links_by_kind.items() if links}


def _between(wording: Wording, places: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, str, str]]:
    """Yield the kinds of links and the two meanings they connect, within and between clauses."""
    if wording.antecedent:
        yield "antecedent", *wording.antecedent
    for start, subject in zip(("", SECOND), wording.subjects, strict=False):
        for phrase in PHRASES:
            at = f"{start}{phrase}"
            yield "adjective-noun", f"{at}.adjective", f"{at}.noun"
            yield "determiner-noun", f"{at}.determiner", f"{at}.noun"
            yield "determiner-noun", f"{at}.article", f"{at}.noun"
            yield "determiner-noun", f"{at}.owner-determiner", f"{at}.owner"
            yield "number-noun", f"{at}.number", f"{at}.noun"
            yield "owner-noun", f"{at}.owner", f"{at}.noun"
        yield "verb-subject", f"{start}verb", f"{start}{subject}"
        yield "adjective-noun", f"{start}adjective", f"{start}subject.noun"
        acts = f"{start}action" if f"{start}action" in places else f"{start}verb"
        if subject != "object.noun":
            yield "verb-object", acts, f"{start}object.noun"
        denied = next((name for name in ("verb", "adjective", "place.noun") if f"{start}{name}" in places), "")
        yield "negation", f"{start}not", f"{start}{denied}"
