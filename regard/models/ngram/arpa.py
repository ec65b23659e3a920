"""Read ARPA files, the text format in which n-gram tools exchange models, without trusting them.

    \\data\\
    ngram 1=4                      the number of n-grams of each order
    ngram 2=2

    \\1-grams:
    -1.2 <TAB> word <TAB> -0.3     the base-10 logarithm of the probability, the words, the back-off weight
    …
    \\end\\
"""

import re
from array import array
from collections.abc import Iterator, Mapping
from io import BufferedIOBase
from typing import NoReturn

import numpy as np

from regard.base.faults import Fault
from regard.models.ngram.model import Logarithms, Ngrams
from regard.models.ngram.options import HIGHEST_ORDER
from regard.models.ngram.trie import NOWHERE, Trie

UNKNOWN_WORD, BEGIN_WORD, END_WORD = "<unk>", "<s>", "</s>"
_NO_UNKNOWN = -100.0  # KenLM's value for the unknown word of a model that has none
_BLOCK = 1 << 20  # bytes read at once, and the length of the longest line
_LARGEST = 1e30  # larger logarithms and weights do not fit a single-precision model
_COUNT = re.compile(rb"ngram\s+(\d{1,9})\s*=\s*(\d{1,18})")
_LONGEST_SHOWN = 60  # characters of a faulty line to show


def read_arpa(stream: BufferedIOBase, name: str, special: Mapping[str, int]) -> tuple[list[str], Ngrams]:
    """Return the words of an ARPA file and its model, in which they are numbered after the special tokens.

    `special` gives the numbers of <unk>, <s> and </s>; other tokens below the highest of them are in no n-gram. A fault
    in the file is reported with its line, and no more memory is used than its lines need.
    """
    lines = _Lines(stream, name)
    counts = _read_header(lines)
    tokens = {word.encode(): token for word, token in special.items()}
    words = _read_words(lines, counts[0], tokens, is_last=len(counts) == 1)
    log_probabilities, backoffs = words.spread(max(tokens.values()) + 1, special)
    model = Ngrams(Trie(len(log_probabilities), []), [log_probabilities], [backoffs])
    for order, count in enumerate(counts[1:], 2):
        section = _read_section(lines, order, count, tokens, is_last=order == len(counts))
        model = _extend(model, section, tokens, lines)
    lines.expect("\\end\\")
    if (rest := lines.next()) is not None:
        lines.refuse(f"unexpected '{_show(rest)}' after the end")
    names = [word.decode() for word in tokens][len(special) :]
    return names, Ngrams(model.trie, model.log_probabilities, model.backoffs[:-1])


class _Lines:
    """The non-blank lines of a file, with at most one block and one line of it in memory."""

    def __init__(self, stream: BufferedIOBase, name: str) -> None:
        self.name, self.number = name, 0
        self._lines = self._cut(stream)
        self._again: bytes | None = None

    def _cut(self, stream: BufferedIOBase) -> Iterator[bytes]:
        rest = b""
        while block := stream.read(_BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            if len(rest) > _BLOCK:
                self.number += 1
                self.refuse(f"the line has more than {_BLOCK:,} bytes, which no n-gram needs")
        yield rest

    def next(self) -> bytes | None:
        """Return the next line, stripped; None at the end of the file."""
        if self._again is not None:
            line, self._again = self._again, None
            return line
        for line in self._lines:
            self.number += 1
            if stripped := line.strip():
                return stripped
        return None

    def put_back(self, line: bytes) -> None:
        """Return the last line again at the next call."""
        self._again = line

    def expect(self, text: str) -> None:
        line = self.next()
        if line is None:
            raise Fault(f"{self.name} is incomplete: it ends where {text} should be.")
        if line != text.encode():
            self.refuse(f"found '{_show(line)}' where {text} should be")

    def refuse(self, why: str) -> NoReturn:
        raise Fault(f"{self.name}, line {self.number}: {why}.")


class _Section:
    """The n-grams of one order, as they are in the file."""

    def __init__(self) -> None:
        self.words, self.log_probabilities, self.backoffs = array("i"), array("f"), array("f")

    def spread(self, size: int, special: Mapping[str, int]) -> tuple[Logarithms, Logarithms]:
        """Put the weights of single words at the places of their tokens."""
        log_probabilities, backoffs = np.full(size, -np.inf, np.float32), np.zeros(size, np.float32)
        log_probabilities[special[UNKNOWN_WORD]] = _NO_UNKNOWN
        words = np.asarray(self.words)
        log_probabilities[words], backoffs[words] = self.log_probabilities, self.backoffs
        log_probabilities[special[BEGIN_WORD]] = -np.inf  # KenLM writes 0 and others -99, but it is never predicted
        return log_probabilities, backoffs


def _read_header(lines: _Lines) -> list[int]:
    """Return the number of n-grams of each order that the header promises."""
    line = lines.next()
    while line is not None and line.startswith(b"#"):
        line = lines.next()
    if line != b"\\data\\":
        raise Fault(f"{lines.name} is not an ARPA file: it does not begin with \\data\\.")
    counts: list[int] = []
    while (line := lines.next()) is not None and not line.startswith(b"\\"):
        match = _COUNT.fullmatch(line)
        if match is None or int(match[1]) != len(counts) + 1:
            lines.refuse(f"found '{_show(line)}' where 'ngram {len(counts) + 1}=' and a number should be")
        counts.append(int(match[2]))
    if not counts or line is None:
        raise Fault(f"{lines.name} is incomplete: it does not say how many n-grams it has.")
    if len(counts) > HIGHEST_ORDER:
        raise Fault(f"{lines.name} has {len(counts)}-grams, but orders above {HIGHEST_ORDER} cannot be read.")
    lines.put_back(line)
    return counts


def _read_words(lines: _Lines, count: int, tokens: dict[bytes, int], is_last: bool) -> _Section:
    """Read the single words, and number them in `tokens`."""
    special, first = set(tokens), max(tokens.values()) + 1
    section, seen = _Section(), set[bytes]()
    for score, (word,), backoff in _entries(lines, 1, count, is_last):
        if word in seen:
            lines.refuse(f"'{_show(word)}' occurs twice")
        try:
            word.decode()
        except UnicodeDecodeError:
            lines.refuse("a word is not valid UTF-8")
        seen.add(word)
        section.words.append(tokens.setdefault(word, first + len(tokens) - len(special)))
        section.log_probabilities.append(score)
        section.backoffs.append(backoff)
    if missing := {BEGIN_WORD.encode(), END_WORD.encode()} - seen:
        raise Fault(f"{lines.name} has no {missing.pop().decode()} among its words, but both <s> and </s> are needed.")
    return section


def _read_section(lines: _Lines, order: int, count: int, tokens: Mapping[bytes, int], is_last: bool) -> _Section:
    section = _Section()
    for score, words, backoff in _entries(lines, order, count, is_last):
        try:
            section.words.extend([tokens[word] for word in words])
        except KeyError as error:
            lines.refuse(f"'{_show(error.args[0])}' is not among the single words")
        section.log_probabilities.append(score)
        section.backoffs.append(backoff)
    return section


def _entries(lines: _Lines, order: int, count: int, is_last: bool) -> Iterator[tuple[float, list[bytes], float]]:
    """Yield the entries of a section: logarithm, words and back-off weight."""
    lines.expect(f"\\{order}-grams:")
    for number in range(count):
        line = lines.next()
        if line is None:
            raise Fault(f"{lines.name} is incomplete: it ends after {number:,} of its {count:,} {order}-grams.")
        fields = line.split()
        if not order < len(fields) < order + 3:
            lines.refuse(f"'{_show(line)}' is not a {order}-gram with its probability; expected {count:,} of them here")
        try:
            score, backoff = float(fields[0]), float(fields[order + 1]) if len(fields) > order + 1 else 0.0
        except ValueError:
            lines.refuse(f"'{_show(line)}' has something else where a number should be")
        if not -_LARGEST < score <= 0:
            lines.refuse(f"{score} is not the logarithm of a probability")
        if not -_LARGEST < backoff < _LARGEST or (is_last and backoff):
            lines.refuse(f"{backoff} is not a back-off weight that a {order}-gram may have")
        yield score, fields[1 : order + 1], backoff


def _extend(model: Ngrams, section: _Section, tokens: Mapping[bytes, int], lines: _Lines) -> Ngrams:
    """Return the model with the n-grams of the next order added."""
    trie, order = model.trie, model.order + 1
    words = np.asarray(section.words, dtype=np.int64).reshape(-1, order)
    rows = words[:, 0]
    for place in range(1, order - 1):
        rows = trie.find(place + 1, rows, words[:, place])
    if (rows == NOWHERE).any():
        names = {token: word.decode() for word, token in tokens.items()}
        *context, last = (names[token] for token in words[np.argmax(rows == NOWHERE)].tolist())
        raise Fault(
            f"{lines.name} has '{' '.join([*context, last])}' among its {order}-grams, but not '{' '.join(context)}' "
            f"among its {order - 1}-grams, which hold the back-off weights."
        )
    keys = rows * trie.size + words[:, -1]
    ascending = np.argsort(keys)
    keys = keys[ascending]
    if (keys[1:] == keys[:-1]).any():
        raise Fault(f"{lines.name} has a repeated {order}-gram.")
    log_probabilities = np.asarray(section.log_probabilities, dtype=np.float32)[ascending]
    backoffs = np.asarray(section.backoffs, dtype=np.float32)[ascending]
    return Ngrams(
        Trie(trie.size, [*trie.keys, keys]),
        [*model.log_probabilities, log_probabilities],
        [*model.backoffs, backoffs],
    )


def _show(line: bytes) -> str:
    text = line.decode(errors="replace")
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
