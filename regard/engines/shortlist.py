"""A lexical shortlist: the few target tokens that the tokens of a source sentence can become, learnt from pairs.

An output layer over the whole vocabulary is a large part of a small translator's work. With a shortlist it covers the
most frequent tokens, and for each source token its translations (Jean et al. 2015, section 3.3). These are learnt by
IBM Model 1 (Brown et al. 1993, section 4.1).
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.data.arrays import arrays_in
from regard.data.corpora.prepared import PreparedPairs, open_prepared
from regard.data.corpora.shards import Pairs
from regard.data.tokenisers.tokeniser import Tokeniser

COMMON = 1000  # the most frequent tokens, always candidates
TRANSLATIONS = 60  # most translations of a source token
ROUNDS = 5  # of expectation maximisation
MOST_LINKS = 12_000_000  # pairs of tokens used; from a larger corpus, evenly spread rows


@dataclass(frozen=True)
class Shortlist:
    """Candidates among the target tokens: those of every sentence, and those of each source token."""

    common: list[int]
    translations: Mapping[int, Sequence[int]]

    def candidates(self, source: Sequence[int]) -> set[int]:
        """Return the target tokens that may translate a sentence."""
        return {*self.common, *(token for word in source for token in self.translations.get(word, []))}

    def text(self, source_names: Sequence[str], target_names: Sequence[str]) -> str:
        """Return the shortlist as CTranslate2 reads it, one source token per line; names must not contain spaces."""
        lines = [("", self.common), *((source_names[token], tokens) for token, tokens in self.translations.items())]
        return "".join(f"{name}\t{' '.join(target_names[token] for token in tokens)}\n" for name, tokens in lines)

    def to_bytes(self) -> bytes:
        """Return the shortlist as a file of arrays, which loads quickly."""
        lists = [*self.translations.values()]
        file = io.BytesIO()
        np.savez_compressed(
            file,
            common=np.array(self.common, np.int32),
            sources=np.array([*self.translations], np.int32),
            counts=np.array([*map(len, lists)], np.int32),
            tokens=np.fromiter(chain.from_iterable(lists), np.int32),
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, target_size: int) -> "Shortlist":
        """Read what `to_bytes` stored for `target_size` tokens; raise ValueError for anything else."""
        common, sources, counts, tokens = _arrays(content, "common", "sources", "counts", "tokens")
        listed = np.concatenate([common, tokens])
        if len(sources) != len(counts) or counts.sum() != len(tokens) or (counts < 0).any():
            raise ValueError("its counts do not match its tokens")
        if listed.size and not 0 <= listed.min() <= listed.max() < target_size:
            raise ValueError(f"it lists tokens outside the {target_size:,} of the vocabulary")
        order = np.argsort(sources, kind="stable")
        ends = np.cumsum(counts, dtype=np.int64)
        if (np.diff(sources[order]) == 0).any():
            raise ValueError("it lists a source token twice")
        return cls(common.tolist(), _StoredRows(sources[order], (ends - counts)[order], ends[order], tokens))


@dataclass(frozen=True, eq=False)  # like any mapping, it equals one with the same entries
class _StoredRows(Mapping[int, Sequence[int]]):
    """Translations as stored in a file; as Python lists they would take ten times the memory."""

    sources: np.ndarray  # in ascending order
    starts: np.ndarray
    ends: np.ndarray
    tokens: np.ndarray

    def __getitem__(self, source: int) -> list[int]:
        row = int(np.searchsorted(self.sources, source))
        if row == len(self.sources) or self.sources[row] != source:
            raise KeyError(source)
        tokens: list[int] = self.tokens[self.starts[row] : self.ends[row]].tolist()
        return tokens

    def __iter__(self) -> Iterator[int]:
        return iter(self.sources.tolist())

    def __len__(self) -> int:
        return len(self.sources)


def _arrays(content: bytes, *names: str) -> list[np.ndarray]:
    """Return the rows of whole numbers with these names in a file of arrays."""
    arrays = [*arrays_in(content, *names).values()]
    if not all(array.ndim == 1 and array.dtype == np.int32 for array in arrays):
        raise ValueError("it does not hold rows of whole numbers")
    return arrays


@dataclass(frozen=True)
class _Links:
    """All pairs of a target token and a source token of the same row, or none, which is the last source token."""

    source: np.ndarray
    target: np.ndarray
    place: np.ndarray  # the target token's number among all target tokens


def training_corpus(model: Path, prepared: str | None, tokenisers: dict[str, bytes]) -> PreparedPairs:
    """Open the corpus that a model was trained on, if it still exists; `tokenisers` are the model's."""
    folder = Path(prepared).expanduser() if prepared else model / "training" / "corpus"
    if not folder.is_dir():
        raise Fault(f"A shortlist is learnt from the training data, but its prepared corpus is no longer at {folder}.")
    corpus = open_prepared(folder)
    files = corpus.source.files("source") | corpus.target.files("target")
    if set(files.values()) != set(tokenisers.values()):
        raise Fault(f"{folder} was tokenised differently from {model}, so it cannot be used.")
    return corpus


def learnt_for(
    model: Path, prepared: str | None, source: Tokeniser, target: Tokeniser, progress: Progress = silent
) -> Shortlist:
    """Learn the shortlist of the model in a folder from its training data."""
    corpus = training_corpus(model, prepared, source.files("source") | target.files("target"))
    pieces = source.pieces(range(source.size)), target.pieces(range(target.size))
    return learn_shortlist(corpus.train, *pieces, progress)


def learn_shortlist(
    pairs: Pairs, source_pieces: Sequence[str], target_pieces: Sequence[str], progress: Progress = silent
) -> Shortlist:
    """Return the most frequent target tokens, and for each source token its likeliest translations and itself.

    A name, a number or a foreign word is often copied, so the same piece is a candidate too.
    """
    links = _link_words(pairs, none=len(source_pieces))
    frequent = np.bincount(links.target[links.source == len(source_pieces)], minlength=len(target_pieces))
    common = np.argsort(-frequent, kind="stable")[:COMMON]
    translations = _translations(links, len(target_pieces), progress)
    translations.pop(len(source_pieces), None)
    same_piece = {piece: token for token, piece in enumerate(target_pieces)}
    for token, piece in enumerate(source_pieces):
        if piece in same_piece:
            translations[token] = [*dict.fromkeys([*translations.get(token, []), same_piece[piece]])]
    return Shortlist(common[frequent[common] > 0].tolist(), dict(sorted(translations.items())))


def _link_words(pairs: Pairs, none: int) -> _Links:
    total = int(((pairs.source_lengths + 1).astype(np.int64) * pairs.target_lengths).sum())
    step = max(1, -(-total // MOST_LINKS))
    columns: list[list[np.ndarray]] = [[], [], []]
    for column, parts in zip(columns, zip(*_rows(pairs, range(0, len(pairs), step), none), strict=True), strict=True):
        column.extend(parts)
    return _Links(*(np.concatenate(column) for column in columns))


def _rows(pairs: Pairs, rows: range, none: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    first = 0
    for row in rows:
        target = pairs.tokens("target", row).astype(np.int64)
        source = np.append(pairs.tokens("source", row).astype(np.int64), none)
        places = np.arange(first, first + len(target), dtype=np.int32)
        first += len(target)
        yield np.tile(source, len(target)), np.repeat(target, len(source)), np.repeat(places, len(source))


def _translations(links: _Links, target_size: int, progress: Progress) -> dict[int, list[int]]:
    """Return t(target | source) by expectation maximisation: c(f | e) = Σ t(f | e) / Σ_i t(f | e_i), then
    normalised.
    """
    cells, cell = np.unique(links.source * target_size + links.target, return_inverse=True)
    of_source = cells // target_size
    probability = np.ones(len(cells))
    for number in range(ROUNDS):
        progress("learning the shortlist", number, ROUNDS)
        weight = probability[cell]
        weight /= np.bincount(links.place, weight)[links.place]
        counts = np.bincount(cell, weight)
        probability = counts / np.bincount(of_source, counts)[of_source]
    progress("learning the shortlist", ROUNDS, ROUNDS)
    order = np.lexsort((-probability, of_source))
    sources, starts = np.unique(of_source[order], return_index=True)
    groups = np.split(cells[order] % target_size, starts[1:])
    return {int(s): group[:TRANSLATIONS].tolist() for s, group in zip(sources, groups, strict=True)}
