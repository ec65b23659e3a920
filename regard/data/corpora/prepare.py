"""Prepare a corpus from text files: clean it, train its tokenisers, and store its tokens in shards on disk.

Each step leaves files that are either complete or absent: the fates of all pairs, the tokenisers, one shard after
another. An interrupted preparation continues from them, and the result is the same to the byte.
"""

import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from regard.base.checksums import are_whole, read_record, write_vouched
from regard.base.faults import Fault
from regard.base.processes import cores, map_in_order
from regard.base.progress import Progress, Remark, silent
from regard.data.corpora.cleaning import (
    REASONS,
    TOO_LONG,
    UNEVEN,
    Drops,
    Fate,
    Report,
    add_drops,
    judge,
    learnt_mask,
)
from regard.data.corpora.hashes import HashedPairs, hash_sentences
from regard.data.corpora.mono_corpora import with_mono
from regard.data.corpora.options import Corpus, PairData
from regard.data.corpora.pieces import (
    HashMaker,
    JudgedPiece,
    Made,
    Piece,
    ShardMaker,
    judged_pieces,
    read_pieces,
    sampled_pairs,
)
from regard.data.corpora.prepared import (
    CorpusLayout,
    PreparedPairs,
    check_free,
    check_purpose,
    claim,
    is_prepared,
    lock_folder,
    open_prepared,
    purpose_of,
    remove_leftovers,
    write_finished,
    write_pair_list,
)
from regard.data.corpora.shards import write_lengths, write_source_hashes
from regard.data.corpora.text import read_chunks, read_pairs
from regard.data.prepared import make_folder
from regard.data.tokenisers.spelling import MEASURED, Spelling, spelling
from regard.data.tokenisers.tokeniser import (
    Tokeniser,
    TokeniserOptions,
    load_tokenisers,
    tokeniser_names,
    train_tokeniser,
)

__all__ = ["PreparedPairs", "open_prepared", "prepare"]

_SMALL = 20_000  # pairs, which are done before a worker process has started
_CHUNK = 20_000
_SMALLEST_SHARD = 20_000
_LARGEST_SHARD = 100_000  # lines; the main process holds the text of one shard per worker
_FEW_SHARDS = 200  # each takes a file descriptor while it is read


def prepare(
    options: PairData,
    folder: Path,
    progress: Progress = silent,
    tokenisers: tuple[Tokeniser, Tokeniser] | None = None,
    remark: Remark = lambda text: None,
    tells_unknown: bool = False,
) -> PreparedPairs:
    """Prepare the corpora of `options` in `folder`, or open them at once if that was done before.

    `tokenisers`, for source and target, split the text; without them, new ones are trained on it. With `tells_unknown`,
    the unknown words of a source stay distinct on both sides, as in `open_to`. An interrupted preparation is continued;
    a folder with another preparation is refused. Once it is finished, the original text is no longer needed. What
    models write from texts of one language (`data.mono`) must lie in `mono_files`.
    """
    layout = CorpusLayout(folder)
    purpose = purpose_of(options, tokenisers, tells_unknown, all_there=not is_prepared(folder))
    if not is_prepared(folder):
        check_free(folder)
        make_folder(folder)
        with lock_folder(folder, progress):
            if not is_prepared(folder):
                claim(folder, purpose)
                _prepare(with_mono(options, folder), layout, progress, tokenisers, tells_unknown)
    check_purpose(folder, purpose, remark)
    return open_prepared(folder, remark)


def _prepare(
    options: PairData,
    layout: CorpusLayout,
    progress: Progress,
    given_tokenisers: tuple[Tokeniser, Tokeniser] | None,
    tells_unknown: bool,
) -> None:
    valid, test = _read_split("valid", options.valid), _read_split("test", options.test)
    fates = _judge_pairs(options, layout, hash_sentences(chain(valid, test)), progress)
    spellings = _spellings(options, fates, given_tokenisers, progress) if given_tokenisers else {}
    source, target = _tokenisers(options, layout, fates, progress, given_tokenisers)
    tagged = tuple(corpus.tagged for corpus in options.train)
    maker = ShardMaker(
        layout.shards, source, target, options.cleaning, options.tokeniser.sampling > 0, tells_unknown, tagged
    )
    results = _make_shards(options, fates, maker, progress)
    report = _report(results).model_copy(update={"spellings": spellings})
    if not report.kept:
        raise Fault(f"No training pair is left: {report.lines()[0]}.", *report.lines()[1:])
    if not options.valid:
        valid = [pair for part in results for pair in part.held_out]
        if not valid:
            raise Fault("All pairs held out for validation are too long or too uneven; give some as data.valid.")
    shards = [part.shard for part in results]
    write_lengths(layout.shards, shards)
    write_source_hashes(layout.sources, layout.shards, shards)
    write_pair_list(layout.valid, valid)
    write_pair_list(layout.test, test)
    remove_leftovers(layout.folder)
    write_finished(layout, shards, report)


def _read_split(split: str, corpora: Sequence[Corpus]) -> list[tuple[str, str]]:
    """Return the pairs of validation or test data, which are checked but never changed."""
    pairs = [pair for corpus in corpora for pair in read_pairs(corpus)]
    if corpora and not pairs:
        raise Fault(f"data.{split} is given but holds no pairs.")
    return pairs


def _judge_pairs(options: PairData, layout: CorpusLayout, elsewhere: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the fate of every line of the training corpora, in order."""
    if not are_whole(layout.judged):
        hashes, lines = _hash_pairs(options, layout.hashes, progress)
        may_validate = np.repeat([corpus.held_out for corpus in options.train], lines)
        fates = judge(hashes, elsewhere, options.cleaning, 0 if options.valid else options.hold_out, may_validate)
        _check_some_are_left(fates)
        write_vouched(layout.judged, {layout.fates.name: _array_file(fates)})
    shutil.rmtree(layout.hashes, ignore_errors=True)
    return np.asarray(np.load(layout.fates))


def _hash_pairs(options: PairData, folder: Path, progress: Progress) -> tuple[HashedPairs, list[int]]:
    """Return the hashes of all training pairs, old and new, and the number of lines of each corpus."""
    make_folder(folder)
    maker, files, lines = HashMaker(folder), list[Path](), [0] * len(options.train)

    def unfinished_pieces() -> Iterator[Piece]:
        for piece in read_pieces(options.train, _CHUNK):
            files.append(maker.file(piece))
            lines[piece.corpus] += piece.chunk.lines
            if not maker.has_made(piece):
                yield piece

    with closing(map_in_order(maker, unfinished_pieces(), _workers(options, _first_lines(options.train)))) as ends:
        for end in ends:
            progress("reading the corpus", end, None)
    return HashedPairs(files), lines


def _array_file(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _check_some_are_left(fates: np.ndarray) -> None:
    if not learnt_mask(fates).any():
        counts = {reason: np.count_nonzero(fates == fate) for fate, reason in REASONS.items()}
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if count) or "none"
        raise Fault(f"No training pair is left: read {len(fates):,} pairs, dropped {dropped}.")


def _workers(options: PairData, lines: int) -> int:
    """Return how many worker processes are worth starting for `lines`."""
    return 0 if lines <= _SMALL else options.processes or cores()


def _first_lines(corpora: Sequence[Corpus]) -> int:
    """Count the lines of all corpora, as far as the number of workers depends on it."""
    lines = 0
    for chunk in (chunk for corpus in corpora for chunk in read_chunks(corpus, _SMALL)):
        lines += chunk.lines
        if lines > _SMALL:
            break
    return lines


def _tokenisers(
    options: PairData,
    layout: CorpusLayout,
    fates: np.ndarray,
    progress: Progress,
    given_tokenisers: tuple[Tokeniser, Tokeniser] | None,
) -> tuple[Tokeniser, Tokeniser]:
    """Return the tokenisers, given or trained, unless they are stored already."""
    if not are_whole(layout.tokenisers_done):
        make_folder(layout.tokenisers)
        files: dict[str, bytes] = {}
        sides = [(0, 1)] if options.tokeniser.shared else [(0,), (1,)]
        named = zip(tokeniser_names(options.tokeniser), options.tokeniser.by_side(), sides, strict=True)
        for name, side_options, of_sides in named:
            if given_tokenisers:
                tokeniser = given_tokenisers[of_sides[0]]
            else:
                tokeniser = _trained_on(side_options, list(_sample(options, fates, of_sides, progress)), progress)
            files |= tokeniser.files(name)
        write_vouched(layout.tokenisers_done, files)
    return load_tokenisers(layout.tokenisers, options.tokeniser)


def _sample(options: PairData, fates: np.ndarray, sides: Sequence[int], progress: Progress) -> Iterator[str]:
    """Yield the text a tokeniser learns from."""
    return (pair[side] for pair in _sample_pairs(options, fates, progress) for side in sides)


def _sample_pairs(options: PairData, fates: np.ndarray, progress: Progress) -> Iterator[tuple[str, str]]:
    pieces = judged_pieces(options.train, fates, _CHUNK)
    with closing(map_in_order(sampled_pairs, pieces, _workers(options, len(fates)))) as parts:
        for number, pairs in enumerate(parts, 1):
            progress("reading text for the tokeniser", min(number * _CHUNK, len(fates)), len(fates))
            yield from pairs


def _spellings(
    options: PairData, fates: np.ndarray, given_tokenisers: tuple[Tokeniser, Tokeniser], progress: Progress
) -> dict[str, Spelling]:
    """Return how well tokenisers trained on other text spell both sides; refuse if they hardly can."""
    every = max(1, int(np.count_nonzero(fates == Fate.SAMPLED)) // MEASURED)
    sides = zip(*islice(_sample_pairs(options, fates, progress), 0, None, every), strict=True)
    named = zip(("source", "target"), given_tokenisers, sides, strict=True)
    spellings = {side: spelling(tokeniser, texts) for side, tokeniser, texts in named}
    for side, side_spelling in spellings.items():
        side_spelling.check(side)
    return spellings


def _trained_on(options: TokeniserOptions, texts: list[str], progress: Progress) -> Tokeniser:
    """Train a tokeniser; for many texts in another process, since SentencePiece ignores Ctrl-C."""
    progress("training the tokeniser", 0, len(texts))
    train = partial(train_tokeniser, options)
    with closing(map_in_order(train, [texts], int(len(texts) > _SMALL))) as tokenisers:
        tokeniser = next(tokenisers)
    progress("training the tokeniser", len(texts), len(texts))
    return tokeniser


def _make_shards(options: PairData, fates: np.ndarray, maker: ShardMaker, progress: Progress) -> list[Made]:
    """Return the records of all shards, made before or now."""
    make_folder(maker.folder)
    size = min(_LARGEST_SHARD, max(_SMALLEST_SHARD, -(-len(fates) // _FEW_SHARDS)))
    records = []

    def unfinished_pieces() -> Iterator[JudgedPiece]:
        for piece in judged_pieces(options.train, fates, size):
            records.append(maker.record(piece))
            if not maker.has_made(piece):
                yield piece

    with closing(map_in_order(maker, unfinished_pieces(), _workers(options, len(fates)))) as ends:
        for end in ends:
            progress("preparing the corpus", end, len(fates))
    return [read_record(Made, record) for record in records]


def _report(results: Sequence[Made]) -> Report:
    drops: Drops = {}
    for part in results:
        add_drops(drops, part.dropped)
    return Report(
        read=sum(part.read for part in results),
        kept=sum(part.shard.rows for part in results),
        held_out=sum(len(part.held_out) for part in results),
        dropped={reason: drops[reason] for reason in (*REASONS.values(), TOO_LONG, UNEVEN) if reason in drops},
        further_columns=sum(part.further_columns for part in results),
    )
