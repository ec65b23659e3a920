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

TOKENS = 1024  # of the longer side, in pairs that are watched at once

Pair = tuple[str, str]


@torch.no_grad()
def inspect(
    task: Translation,
    pairs: Sequence[Pair],
    given: Sequence[Alignment] | None = None,
    progress: Progress = silent,
) -> list[HeadReport]:
    """A report of every head while the task reads the sources and is made to write their translations.

    With alignments given, one for each pair, a report also says how far the links a head shows are from them.
    """
    refuse_headless(task)
    if given is not None and len(given) != len(pairs):
        raise Fault(
            f"Alignments have {quantity(len(given), 'line')} for {quantity(len(pairs), 'pair')}; each pair needs one."
        )
    pairs = [(source.strip(), target.strip()) for source, target in pairs]  # as they will be read
    reports: list[HeadReport] = []
    task.eval()
    for portion in portions(task, pairs):
        reports = merge_reports([*reports, *_of_batch(task, pairs[portion], given and given[portion])])
        progress("watching", portion.stop, len(pairs))
    if not reports:
        raise Fault("There is nothing to watch: no pairs were given.")
    return reports


def portions(task: Translation, pairs: Sequence[Pair]) -> Iterator[slice]:
    """Return the pairs in order, few enough at once that their weights take little memory; refuse one too long."""
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


def _of_batch(task: Translation, pairs: Sequence[Pair], given: Sequence[Alignment] | None) -> Iterator[HeadReport]:
    batch = task.pair_up(pairs)
    with watching(task.model) as gazes:
        task.measure(batch)
    yield from report(gazes, task.extents(batch))
    if given is not None:
        words = {
            "source": [token_words(task.source_for(source), source) for source, _ in pairs],
            "target": [token_words(task.target_for(source), target) for source, target in pairs],
        }
        yield from alignment_report(gazes, words, given)


def token_words(tokeniser: Tokeniser, text: str) -> list[int]:
    """Return the word that each token of a text belongs to."""
    return tokeniser.words(tokeniser.encode(text))
