"""Agreement of a student with its teacher on which source words they look at."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from regard.attention.alignments import Link, links
from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.seeing.pair_reports import Pair, portions, token_words
from regard.verbs.translate.aligning import Aligner, aligners_of, usual_aligner

Links = list[frozenset[Link]]  # of each pair: a source word and the target word that looks at it most


class Agreement(NamedTuple):
    """Share of target words whose most looked-at source word is the teacher's, and what it is compared with."""

    share: float
    diagonal: float  # the share of a student that only looks at the same relative place
    teachers: float | None  # the share of a second teacher, if there is one
    words: int
    attention: str  # where the student looks, for people

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


def attention_agreement(
    teacher: Any, student: Any, pairs: Sequence[Pair], choosing: Sequence[Pair], second: Any = None
) -> Agreement | None:
    """Compare the attention of two tasks, both forced to write the targets of `pairs`; None if one has no attention.

    The teacher's links are read from the mean of the heads of its last block but one, which aligns best (Garg et al.
    2019). For the student, and a `second` teacher, it is the mean of the heads of the block that agrees best on the
    pairs for `choosing`, since models of other depths align elsewhere.
    """
    try:
        usual = usual_aligner(teacher)
        usual_aligner(student)
    except Fault:
        return None
    expected = _all_links(teacher, pairs, [usual])[usual]
    expected_before = _all_links(teacher, choosing, [usual])[usual]

    def best_share(task: Any) -> tuple[float, Aligner]:
        found = _all_links(task, choosing)
        best = max(found, key=lambda aligner: _share(found[aligner], expected_before))
        return _share(_all_links(task, pairs, [best])[best], expected), best

    share, aligner = best_share(student)
    diagonal = _share(
        [_diagonal(links_of_pair, *sizes) for links_of_pair, sizes in _with_sizes(student, expected, pairs)], expected
    )
    return Agreement(
        share,
        diagonal,
        None if second is None else best_share(second)[0],
        sum(map(len, expected)),
        aligner.told(student),
    )


@torch.no_grad()
def _all_links(task: Any, pairs: Sequence[Pair], only: Sequence[Aligner] = ()) -> dict[Aligner, Links]:
    """Return the links of all pairs by each mean of heads, or only by those given."""
    pairs = [(source.strip(), target.strip()) for source, target in pairs]
    found: dict[Aligner, Links] = {aligner: [] for aligner in only}
    task.eval()
    for portion in portions(task, pairs):
        words = [(token_words(task.target_for(s), t), token_words(task.source_for(s), s)) for s, t in pairs[portion]]
        with watching(task.model) as gazes:
            task.forced_log_probabilities(task.pair_up(pairs[portion]))
        for gaze in gazes:
            for aligner in aligners_of(gaze):
                is_mean = aligner.head is None or gaze.weights.shape[1] == 1
                if aligner in only or (not only and is_mean):
                    rows = found.setdefault(aligner, [])
                    rows += [links(aligner.weights(gaze, row), *tokens) for row, tokens in enumerate(words)]
    return found


def _share(found: Links, expected: Links) -> float:
    """Return the share of the expected links that were found."""
    count = sum(map(len, expected))
    return sum(len(one & other) for one, other in zip(found, expected, strict=True)) / count if count else float("nan")


def _with_sizes(task: Any, expected: Links, pairs: Sequence[Pair]) -> Iterator[tuple[frozenset[Link], tuple[int, int]]]:
    for found, (source, target) in zip(expected, pairs, strict=True):
        sizes = [
            max(token_words(tokeniser, text.strip()), default=-1) + 1
            for tokeniser, text in ((task.source_for(source), source), (task.target_for(source), target))
        ]
        yield found, (sizes[0], sizes[1])


def _diagonal(expected: frozenset[Link], sources: int, targets: int) -> frozenset[Link]:
    """Return links of the same target words to the source words at the same relative places."""
    return frozenset(
        (min(sources - 1, int((word + 0.5) * sources / targets)), word) for _, word in expected if targets and sources
    )
