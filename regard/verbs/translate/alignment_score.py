"""The alignment error rate of a translator's attention (Och and Ney 2003) against known links."""

from collections.abc import Callable, Sequence

from regard.attention.alignments import Alignment, read_alignments
from regard.base.faults import Fault
from regard.base.figures import in_figures
from regard.base.progress import Progress
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs
from regard.data.generated.corpora import generate_links
from regard.metrics import Score
from regard.verbs.translate.aligning import best_aligner, count_errors, usual_aligner
from regard.verbs.translate.model import TranslationModel

Pair = tuple[str, str]
Scorer = Callable[[Sequence[Pair], Sequence[Alignment]], Score]


def true_alignments(corpora: Sequence[Corpus]) -> list[Alignment] | None:
    """Return the links of all pairs of these corpora, if all of them are generated with links."""
    alignments: list[Alignment] = []
    for corpus in corpora:
        lines = generate_links(corpus.pairs) if corpus.pairs else None
        if lines is None:
            return None
        alignments += read_alignments(lines)
    return alignments or None


def alignment_scorer(model: TranslationModel, notice: Callable[[str], None], progress: Progress) -> Scorer:
    """Return a function that scores pairs with their links; the attention is chosen once, and `notice` reports it.

    It is the head, or the mean of the heads of a block, with the lowest error rate on the model's validation data if
    those links are known, and otherwise the mean of the heads of the second to last block.
    """
    task, aligner, chosen = model.task, usual_aligner(model.task), "usual"
    corpora = [] if model.recipe.data.merge_references else model.recipe.data.valid
    if alignments := true_alignments(corpora):
        pairs = [pair for corpus in corpora for pair in read_pairs(corpus)]
        aligner, chosen = best_aligner(task, pairs, alignments), "valid"

    def score(pairs: Sequence[Pair], alignments: Sequence[Alignment]) -> Score:
        errors = count_errors(task, pairs, alignments, aligner, progress)[aligner]
        if not errors.found + errors.sure:
            raise Fault("There are no links to compare: neither the alignments nor the model's attention have any.")
        why = "which has the lowest error rate on the validation data" if chosen == "valid" else "the default"
        precision, recall = (in_figures(100 * value, 1) for value in (errors.precision, errors.recall))
        notice(
            f"Links are read from {aligner.told(task)}, {why}: {precision}% of them are correct, and {recall}% of "
            "the sure links are found."
        )
        return Score("aer", 100 * errors.rate, f"{aligner.signature(task)}|chosen:{chosen}", len(pairs))

    return score
