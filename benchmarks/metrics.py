"""Scoring speed: BLEU and chrF beside sacreBLEU's own, in one process, on the same made-up text.

Run it with `.venv/bin/python benchmarks/metrics.py`, and with a number of pairs to measure those alone. Every score is
compared with sacreBLEU's to the last digit before a ratio is printed; the ratio is what counts, not the seconds.
"""

import random
import sys
import time
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.metrics import score

SIZES = (3_000, 100_000)
WORDS, LETTERS = 30_000, "aaabcdeeefghiiijlmnooopqrstuvxzáãçéêó"
PEERS: dict[str, Callable[[], Any]] = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2)}


def corpus(size: int) -> tuple[list[str], list[str]]:
    """Outputs and references of 23 words or so, as frequent as words are, a seventh of them different."""
    chance = random.Random(size)
    words = ["".join(chance.choices(LETTERS, k=chance.randint(1, 10))) for _ in range(WORDS)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    references, hypotheses = [], []
    for _ in range(size):
        sentence = chance.choices(words, cum_weights=weights, k=max(3, round(chance.gauss(23, 9))))
        other = [word if chance.random() > 1 / 7 else chance.choice(words) for word in sentence]
        references.append(f"{' '.join(sentence[:-2])}, {' '.join(sentence[-2:])}.")
        hypotheses.append(f"{' '.join(other[:-2])}, {' '.join(other[-2:])}.")
    return hypotheses, references


def seconds(work: Callable[[], float]) -> tuple[float, float]:
    began = time.perf_counter()
    value = work()
    return value, time.perf_counter() - began


def compare(metric: str, hypotheses: list[str], references: list[str]) -> str:
    """Both on the same text, ours first, since sacreBLEU's tokeniser remembers lines it has seen."""
    ours, our_time = seconds(lambda: score(hypotheses, references, metric).value)
    theirs, their_time = seconds(lambda: float(PEERS[metric]().corpus_score(hypotheses, [references]).score))
    if ours != theirs:
        raise SystemExit(f"{metric}: {ours!r} here, {theirs!r} by sacreBLEU")
    return f"{metric:8}{len(hypotheses):>9}{their_time:>12.2f}{our_time:>9.2f}{their_time / our_time:>8.2f}"


def main() -> None:
    print(f"{'metric':8}{'pairs':>9}{'sacreBLEU s':>12}{'ours s':>9}{'ratio':>8}")
    score(["warm up, please"], ["warm up, please"])
    for size in [int(each) for each in sys.argv[1:]] or SIZES:
        hypotheses, references = corpus(size)
        for metric in PEERS:
            print(compare(metric, hypotheses, references), flush=True)


if __name__ == "__main__":
    main()
