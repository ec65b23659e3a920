"""Word alignment by a translator's attention: its best head, and how often it errs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.alignments import Alignment, AlignmentErrors, alignment_errors, links
from regard.attention.watch import Gaze, numbered_blocks, watching
from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.seeing.pair_reports import Pair, portions, token_words
from regard.tasks.translation.covering import crossing
from regard.tasks.translation.task import Translation


class Aligner(NamedTuple):
    """Attention from which links are read: of one head or, without one, the mean of all heads of its block.

    The weights of a target word are those with which it is written or, `later`, those of the step after that, which
    has read it (Chen et al. 2020, section 3).
    """

    where: str
    head: int | None = None
    later: bool = False

    def told(self, task: Translation) -> str:
        """Return what is looked at, in words: "the mean of the heads of cross-attention block 2"."""
        side, block = numbered_blocks(task.model)[self.where]
        whose = "the mean of the heads" if self.head is None else f"head {self.head + 1}"
        return f"{whose} of {side}-attention block {block}{', a step later' if self.later else ''}"

    def signature(self, task: Translation) -> str:
        side, block = numbered_blocks(task.model)[self.where]
        head = "mean" if self.head is None else str(self.head + 1)
        return f"attention:{side}.{block}.{head}|step:{'later' if self.later else 'own'}"

    def weights(self, gaze: Gaze, row: int) -> Tensor:
        """Return the weights (target, source) of a row."""
        heads = gaze.weights[row]
        own = heads.mean(dim=0) if self.head is None else heads[self.head]
        return own[1:] if self.later else own


def usual_aligner(task: Translation) -> Aligner:
    """Return the mean of the heads of the last block but one; a model without attention to its source is refused."""
    where = crossing(task.model)
    if where is None:
        raise Fault("This model has no attention to its source, so it aligns no words; aer cannot be measured.")
    return Aligner(where)


def best_aligner(task: Translation, pairs: Sequence[Pair], given: Sequence[Alignment]) -> Aligner:
    """Return what aligns these pairs with the lowest error rate, out of all heads and the means of all blocks."""
    usual_aligner(task)  # refuses a model without attention
    errors = count_errors(task, pairs, given)
    return min(errors, key=lambda aligner: errors[aligner].rate)


@torch.no_grad()
def count_errors(
    task: Translation,
    pairs: Sequence[Pair],
    given: Sequence[Alignment],
    only: Aligner | None = None,
    progress: Progress = silent,
) -> Mapping[Aligner, AlignmentErrors]:
    """Count the errors of every aligner, or of one, while the task is made to write the targets of these pairs."""
    pairs = [(source.strip(), target.strip()) for source, target in pairs]  # as they will be read
    errors: dict[Aligner, AlignmentErrors] = defaultdict(AlignmentErrors)
    task.eval()
    for portion in portions(task, pairs):
        words = [(token_words(task.target_for(s), t), token_words(task.source_for(s), s)) for s, t in pairs[portion]]
        for (target, source), alignment in zip(words, given[portion], strict=True):
            alignment.check_within(max(source, default=-1) + 1, max(target, default=-1) + 1)
        with watching(task.model, where=only and only.where) as gazes:
            task.forced_log_probabilities(task.pair_up(pairs[portion]))
        for gaze in gazes:
            for aligner in _aligners(gaze) if only is None else [only]:
                for row, (tokens, alignment) in enumerate(zip(words, given[portion], strict=True)):
                    errors[aligner] += alignment_errors(links(aligner.weights(gaze, row), *tokens), alignment)
        progress("aligning", portion.stop, len(pairs))
    return errors


def _aligners(gaze: Gaze) -> Iterator[Aligner]:
    """Return all that one look from target to source can be read as."""
    if (gaze.looks_from, gaze.looks_at) != ("target", "source"):
        return
    heads = gaze.weights.shape[1]
    for head in (None, *range(heads)) if heads > 1 else (0,):
        for later in (False, True):
            yield Aligner(gaze.where, head, later)
