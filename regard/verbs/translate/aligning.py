"""Word alignment from a translator's attention: the best head, and its error rate."""

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
    """The attention from which links are read: one head or, if `head` is None, the mean of all heads of its block.

    A target word's weights are those of the step that writes it or, if `later`, of the next step, which has read it
    (Chen et al. 2020, section 3).
    """

    where: str
    head: int | None = None
    later: bool = False

    def told(self, task: Translation) -> str:
        """Describe the attention: "the mean of the heads of cross-attention block 2"."""
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
        weights = heads.mean(dim=0) if self.head is None else heads[self.head]
        return weights[1:] if self.later else weights


def usual_aligner(task: Translation) -> Aligner:
    """Return the mean of the heads of the second to last block; refuse a model without attention to its source."""
    where = crossing(task.model)
    if where is None:
        raise Fault("This model has no attention to its source, so it aligns no words; aer cannot be measured.")
    return Aligner(where)


def best_aligner(task: Translation, pairs: Sequence[Pair], alignments: Sequence[Alignment]) -> Aligner:
    """Return the aligner with the lowest error rate on these pairs, among all heads and the means of all blocks."""
    usual_aligner(task)  # refuses a model without attention
    errors = count_errors(task, pairs, alignments)
    return min(errors, key=lambda aligner: errors[aligner].rate)


@torch.no_grad()
def count_errors(
    task: Translation,
    pairs: Sequence[Pair],
    alignments: Sequence[Alignment],
    only: Aligner | None = None,
    progress: Progress = silent,
) -> Mapping[Aligner, AlignmentErrors]:
    """Count the errors of every aligner, or of one, while the task is forced to write the targets of these pairs."""
    pairs = [(source.strip(), target.strip()) for source, target in pairs]  # as they are read
    errors: dict[Aligner, AlignmentErrors] = defaultdict(AlignmentErrors)
    task.eval()
    for portion in portions(task, pairs):
        words = [(token_words(task.target_for(s), t), token_words(task.source_for(s), s)) for s, t in pairs[portion]]
        for (target, source), alignment in zip(words, alignments[portion], strict=True):
            alignment.check_within(max(source, default=-1) + 1, max(target, default=-1) + 1)
        with watching(task.model, where=only and only.where) as gazes:
            task.forced_log_probabilities(task.pair_up(pairs[portion]))
        for gaze in gazes:
            for aligner in aligners_of(gaze) if only is None else [only]:
                for row, (tokens, alignment) in enumerate(zip(words, alignments[portion], strict=True)):
                    errors[aligner] += alignment_errors(links(aligner.weights(gaze, row), *tokens), alignment)
        progress("aligning", portion.stop, len(pairs))
    return errors


def aligners_of(gaze: Gaze) -> Iterator[Aligner]:
    """Yield all aligners for one attention from target to source."""
    if (gaze.looks_from, gaze.looks_at) != ("target", "source"):
        return
    heads = gaze.weights.shape[1]
    for head in (None, *range(heads)) if heads > 1 else (0,):
        for later in (False, True):
            yield Aligner(gaze.where, head, later)
