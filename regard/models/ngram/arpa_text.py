"""Write ARPA files; `arpa.py` reads them and describes the format."""

from collections.abc import Iterator, Sequence

import numpy as np

from regard.base.compiled import pays_to_compile
from regard.models.ngram.model import Logarithms, Ngrams
from regard.models.ngram.trie import Rows, Trie

_NEVER = np.float32(-99)  # how the logarithm of 0 is written
_AT_ONCE = 1 << 14  # lines


def arpa_blocks(model: Ngrams, names: Sequence[str | None]) -> Iterator[bytes]:
    """Yield the content of an ARPA file piece by piece.

    `names` are the tokens' names; a token without a name is in no n-gram and is left out.
    """
    named = np.flatnonzero([name is not None for name in names])
    counts = [len(named), *map(len, model.trie.keys)]
    yield b"\\data\\\n" + "".join(f"ngram {order}={count}\n" for order, count in enumerate(counts, 1)).encode()
    write = (_CompiledLines if pays_to_compile(sum(counts)) else _Lines)(model.trie, names).write
    for order, count in enumerate(counts, 1):
        yield f"\n\\{order}-grams:\n".encode()
        for start in range(0, count, _AT_ONCE):
            rows = np.arange(start, min(start + _AT_ONCE, count))
            if order == 1:
                rows = named[rows]
            backoffs = model.backoffs[order - 1][rows] if order < model.order else None
            yield write(order, rows, np.maximum(model.log_probabilities[order - 1][rows], _NEVER), backoffs)
    yield b"\n\\end\\\n"


class _Lines:
    """Writes lines of n-grams, with words by these names."""

    def __init__(self, trie: Trie, names: Sequence[str | None]) -> None:
        self._trie, self._names = trie, [name or "" for name in names]

    def write(self, order: int, rows: Rows, scores: Logarithms, backoffs: Logarithms | None) -> bytes:
        columns = list[list[str]]()
        for level in range(order, 1, -1):
            rows, words = np.divmod(self._trie.keys[level - 2][rows], self._trie.size)
            columns.append([self._names[word] for word in words.tolist()])
        columns.append([self._names[word] for word in rows.tolist()])
        texts = map(" ".join, zip(*reversed(columns), strict=True))
        ends = [""] * len(rows) if backoffs is None else [f"\t{numeral}" for numeral in _numerals(backoffs)]
        lines = zip(_numerals(scores), texts, ends, strict=True)
        return "".join(f"{score}\t{text}{end}\n" for score, text, end in lines).encode()


class _CompiledLines:
    """Writes the same lines with compiled loops."""

    def __init__(self, trie: Trie, names: Sequence[str | None]) -> None:
        texts = [(name or "").encode() for name in names]
        self._trie, self._names = trie, np.frombuffer(b"".join(texts), np.uint8)
        self._lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self._ends = np.append(0, np.cumsum(self._lengths))

    def write(self, order: int, rows: Rows, scores: Logarithms, backoffs: Logarithms | None) -> bytes:
        from regard.kernels.arpa_lines import go_up, write_lines

        words = np.empty((order, len(rows)), np.int64)
        for level in range(order, 1, -1):
            go_up(self._trie.keys[level - 2], rows, self._trie.size, words[level - 1])
        words[0] = rows
        texts, lengths = _texts_of(scores)
        end_texts, end_lengths = (texts, np.zeros_like(lengths)) if backoffs is None else _texts_of(backoffs)
        size = lengths.sum() + end_lengths.sum() + self._lengths[words].sum() + len(rows) * (order + 2)
        out = np.empty(size, np.uint8)
        used = write_lines(out, words, self._names, self._ends, texts, lengths, end_texts, end_lengths)
        return out[:used].tobytes()


def _texts_of(values: Logarithms) -> tuple[np.ndarray, np.ndarray]:
    """Return the text of each number in a row of bytes, and its length in bytes."""
    from regard.kernels.arpa_lines import LONGEST_NUMBER, write_numbers

    texts, lengths = np.empty((len(values), LONGEST_NUMBER), np.uint8), np.empty(len(values), np.int64)
    write_numbers(values, values.view(np.uint32), texts, lengths)
    unwritten = np.flatnonzero(lengths == 0)
    for row, text in zip(unwritten.tolist(), _numerals(values[unwritten]), strict=True):
        lengths[row] = len(text)
        texts[row, : len(text)] = np.frombuffer(text.encode(), np.uint8)
    return texts, lengths


def _numerals(values: Logarithms) -> list[str]:
    """Return numbers as text, with nine digits, which restore the same number; most occur many times."""
    distinct, inverse = np.unique(values.view(np.uint32), return_inverse=True)
    numerals = [f"{value:.9g}" for value in distinct.view(np.float32).tolist()]
    return [numerals[place] for place in inverse.tolist()]
