"""Reports on a translator's heads over sentence pairs, including how well they align words."""

from collections.abc import Iterator, Sequence

import torch

from regard.attention.alignments import Alignment
from regard.attention.reports import HeadReport, alignment_report, merge_reports, report
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, silent
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.seeing.head_reports import refuse_headless
from regard.tasks.translation.lengths import check_length, check_target
from regard.tasks.translation.task import Translation

TOKENS = 1024  # of the longer side, in pairs watched at once

Pair = tuple[str, str]


@torch.no_grad()
def inspect(
    task: Translation,
    pairs: Sequence[Pair],
    alignments: Sequence[Alignment] | None = None,
    progress: Progress = silent,
) -> list[HeadReport]:
    """Return a report on every head while the task reads the sources and is forced to write their translations.

    With alignments, one for each pair, a report also has the alignment errors of the head.
    """
    refuse_headless(task)
    if alignments is not None and len(alignments) != len(pairs):
        raise Fault(
            f"Alignments have {quantity(len(alignments), 'line')} for {quantity(len(pairs), 'pair')}; "
            "each pair needs one."
        )
    pairs = [(source.strip(), target.strip()) for source, target in pairs]  # as they are read
    reports: list[HeadReport] = []
    task.eval()
    for portion in portions(task, pairs):
        reports = merge_reports([*reports, *_of_batch(task, pairs[portion], alignments and alignments[portion])])
        progress("watching", portion.stop, len(pairs))
    if not reports:
        raise Fault("There is nothing to watch: no pairs were given.")
    return reports


def portions(task: Translation, pairs: Sequence[Pair]) -> Iterator[slice]:
    """Yield slices of the pairs that are small enough for memory; refuse a pair that is too long."""
    first, longest = 0, 0
    for number, (source, target) in enumerate(pairs):
        check_length(task, source, number)
        length = max(check_target(task, target, number), len(task.source.encode(source)) + 1)
        if number > first and (number + 1 - first) * max(longest, length) > TOKENS:
            yield slice(first, number)
            first, longest = number, 0
        longest = max(longest, length)
    if pairs:
        yield slice(first, len(pairs))


def _of_batch(task: Translation, pairs: Sequence[Pair], alignments: Sequence[Alignment] | None) -> Iterator[HeadReport]:
    batch = task.pair_up(pairs)
    with watching(task.model) as gazes:
        task.measure(batch)
    yield from report(gazes, task.extents(batch))
    if alignments is not None:
        words = {
            "source": [token_words(task.source_for(source), source) for source, _ in pairs],
            "target": [token_words(task.target_for(source), target) for source, target in pairs],
        }
        yield from alignment_report(gazes, words, alignments)


def token_words(tokeniser: Tokeniser, text: str) -> list[int]:
    """Return the word of each token of a text."""
    return tokeniser.words(tokeniser.encode(text))
