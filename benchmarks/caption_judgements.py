"""Agreement of our caption metrics with experts, who judged captions of flickr8k's pictures from 1 to 4.

    .venv/bin/python benchmarks/caption_judgements.py

Of each judged pair, a picture and a caption (often that of another picture), the caption is scored against the five of
the picture; pairs whose caption is one of those five are left out. Each of the three judgements of a pair is one of its
own, as in the literature, which gives Kendall's τ-c (Anderson et al. 2016; Hessel et al. 2021, appendix A). τ-b is
printed beside it, and as a mark how far one expert agrees with another. Words are compared in lower case, without
punctuation. Published τ-c are those of Hessel et al. 2021, table 1, as recalled.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.metrics.bleu import UNCUT, bleu
from regard.metrics.ngrams import words
from regard.metrics.sentence_counts import sentence_statistics
from regard.metrics.summed import Summed
from regard.metrics.text import ERRORS, METRICS

CAPTION_METRICS = (
    *("bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge1", "rouge2", "rougeL", "meteor", "meteor-f1", "cider"),
    *("nist", "ribes", "lepor", "ebleu-2013", "chrf", "chrf++", "ter", "wer", "cer", "per"),
)
ONE_REFERENCE = ("wer", "cer", "per")  # the nearest of the five counts
PUBLISHED = {"bleu-1": 32.3, "bleu-4": 30.8, "rougeL": 32.3, "meteor": 41.8, "cider": 43.9}


def kendall(values: Sequence[float], ranks: Sequence[int]) -> tuple[float, float]:
    """Kendall's τ-b and τ-c of values with a few ranks, P pairs in the same order in both and Q in opposite ones:

        τ-b = (P − Q) / √((pairs − ties of values) (pairs − ties of ranks)),   τ-c = 2 (P − Q) / (n² (m − 1) / m)

    with m the number of different ranks.
    """
    by_rank = [np.sort(np.array(values)[np.array(ranks) == rank]) for rank in sorted(set(ranks))]
    surplus = 0
    for low, below in enumerate(by_rank):
        for above in by_rank[low + 1 :]:
            lower, upper = (np.searchsorted(below, above, side) for side in ("left", "right"))
            surplus += int(lower.sum() - (len(below) - upper).sum())
    count, levels = len(values), len(by_rank)
    pairs = math.comb(count, 2)
    ties = [sum(math.comb(int(size), 2) for size in np.unique(side, return_counts=True)[1]) for side in (values, ranks)]
    return surplus / math.sqrt((pairs - ties[0]) * (pairs - ties[1])), 2 * surplus * levels / (count**2 * (levels - 1))


def read_judged() -> tuple[list[str], list[list[str]], list[list[int]]]:
    """The captions that were judged, the five of each one's picture, and the three judgements."""
    texts: dict[str, str] = {}
    of_picture: dict[str, list[str]] = defaultdict(list)
    for line in read_lines(file_of("flickr8k:Flickr8k.token.txt.xz")):
        name, _, caption = line.partition("\t")
        texts[name] = " ".join(words(caption))
        of_picture[name.rpartition("#")[0]].append(texts[name])
    judged = [line.split("\t") for line in read_lines(file_of("flickr8k:ExpertAnnotations.txt.xz"))]
    taken = [each for each in judged if each[1].rpartition("#")[0] != each[0]]
    candidates, references = [texts[each[1]] for each in taken], [of_picture[each[0]] for each in taken]
    return candidates, references, [[int(rank) for rank in each[2:]] for each in taken]


def score_each(metric: str, candidates: list[str], references: list[list[str]]) -> list[float]:
    """Return the score of each caption against its references; errors are negated, so that more is better."""
    if metric.startswith("bleu"):
        counted = bleu(UNCUT, orders=int(metric[-1]), effective=True)
        rows = sentence_statistics(counted, candidates, list(zip(*references, strict=True)))
        return [counted._compute_score_from_stats(row.tolist()).score for row in rows]
    measure = METRICS[metric].load()
    if isinstance(measure, Summed):
        return [measure.finish(row) for row in measure.rows(candidates, references)]
    if metric in ONE_REFERENCE:
        pairs = zip(candidates, references, strict=True)
        return [-min(measure([one], [[reference]])[0] for reference in own) for one, own in pairs]
    scores = [measure([one], [[each] for each in own])[0] for one, own in zip(candidates, references, strict=True)]
    return [-score for score in scores] if metric in ERRORS else scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    candidates, references, judgements = read_judged()
    ranks = [rank for own in judgements for rank in own]
    print(f"{len(candidates):,} captions, {len(ranks):,} judgements")
    print(f"{'metric':10s} {'τ-b':>6s} {'τ-c':>6s} {'published τ-c':>14s}")
    for metric in CAPTION_METRICS:
        values = np.repeat(score_each(metric, candidates, references), len(judgements[0])).tolist()
        rank_b, rank_c = kendall(values, ranks)
        print(f"{metric:10s} {100 * rank_b:6.1f} {100 * rank_c:6.1f} {PUBLISHED.get(metric, ''):>14}", flush=True)
    pairs = [(rank, other) for own in judgements for place, rank in enumerate(own) for other in own[place + 1 :]]
    rank_b, rank_c = kendall(*map(list, zip(*pairs, strict=True)))
    print(f"{'an expert':10s} {100 * rank_b:6.1f} {100 * rank_c:6.1f}")


if __name__ == "__main__":
    main()
