"""Scoring speed: our metrics beside those of sacreBLEU, rouge-score and nltk, in one process, on the same made-up text.

Run it with `.venv/bin/python benchmarks/metrics.py`, and with a number of pairs to measure those alone. Both begin with
plain text and end with one score. BLEU, chrF and ROUGE must be the peer's to the last digit before a ratio is printed;
the ratio is what counts, not the seconds. METEOR is another version than nltk's, so its scores differ; neither has
synonyms here, for want of WordNet. Peers that are not installed (`pip install '.[bench]'`) are passed over.
"""

import argparse
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate

from table import Rate, Ratio, against, show

from regard.metrics import score

SIZES = (3_000, 100_000)
WORDS, PLAIN, ACCENTED = 30_000, "aaabcdeeefghiiijlmnooopqrstuvxz", "áãçéêó"
WARM_UP = ["warm up, please"]

Texts = Sequence[str]


@dataclass(frozen=True)
class Peer:
    """Who else has a metric, how it is asked, and what to know when the two are compared."""

    package: str
    measure: Callable[[Texts, Texts], float]
    letters: str = PLAIN
    is_same: bool = True  # to the last digit
    most: int = SIZES[-1]  # pairs it is asked for


def sacrebleu(metric: str) -> Callable[[Texts, Texts], float]:
    def measure(hypotheses: Texts, references: Texts) -> float:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF

        made = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2)}[metric]()
        return float(made.corpus_score(hypotheses, [references]).score)

    return measure


def rouge_score(kind: str) -> Callable[[Texts, Texts], float]:
    """The mean of its F over all texts; it knows no letters but a to z."""

    def measure(hypotheses: Texts, references: Texts) -> float:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([kind])
        pairs = zip(hypotheses, references, strict=True)
        return sum(scorer.score(wanted, written)[kind].fmeasure for written, wanted in pairs) / len(hypotheses)

    return measure


class NoSynonyms:
    """Stands for a WordNet without any words."""

    def synsets(self, word: str) -> list[str]:
        return []


def nltk_meteor(hypotheses: Texts, references: Texts) -> float:
    """The mean over all sentences; it wants tokens, which sacreBLEU's 13a cuts for it as it does for ours."""
    from nltk.translate.meteor_score import meteor_score
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut, total = Tokenizer13a(), 0.0
    for written, wanted in zip(hypotheses, references, strict=True):
        total += meteor_score([cut(wanted).split()], cut(written).split(), wordnet=NoSynonyms())
    return total / len(hypotheses)


PEERS = {
    "bleu": Peer("sacrebleu", sacrebleu("bleu"), PLAIN + ACCENTED),
    "chrf": Peer("sacrebleu", sacrebleu("chrf"), PLAIN + ACCENTED),
    "chrf++": Peer("sacrebleu", sacrebleu("chrf++"), PLAIN + ACCENTED),
    "rouge1": Peer("rouge_score", rouge_score("rouge1")),
    "rouge2": Peer("rouge_score", rouge_score("rouge2")),
    "rougeL": Peer("rouge_score", rouge_score("rougeL")),
    "meteor": Peer("nltk", nltk_meteor, is_same=False, most=SIZES[0]),
}


def corpus(size: int, letters: str) -> tuple[list[str], list[str]]:
    """Outputs and references of 23 words or so, as frequent as words are, a seventh of them different."""
    chance = random.Random(size)
    words = ["".join(chance.choices(letters, k=chance.randint(1, 10))) for _ in range(WORDS)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    references, hypotheses = [], []
    for _ in range(size):
        sentence = chance.choices(words, cum_weights=weights, k=max(3, round(chance.gauss(23, 9))))
        other = [word if chance.random() > 1 / 7 else chance.choice(words) for word in sentence]
        references.append(f"{' '.join(sentence[:-2])}, {' '.join(sentence[-2:])}.")
        hypotheses.append(f"{' '.join(other[:-2])}, {' '.join(other[-2:])}.")
    return hypotheses, references


def measured(work: Callable[[], float], pairs: int) -> tuple[float, Rate]:
    """A score, and pairs a second; once only, for whoever has seen a text before is quicker."""
    wall, core = time.perf_counter(), time.process_time()
    value = work()
    return value, Rate(pairs / (time.perf_counter() - wall), pairs / (time.process_time() - core))


def compare(metric: str, size: int) -> list[Ratio]:
    """Both on the same text, ours first, since sacreBLEU's tokeniser remembers lines it has seen."""
    peer = PEERS[metric]
    hypotheses, references = corpus(size, peer.letters)
    score(WARM_UP, WARM_UP, metric)
    peer.measure(WARM_UP, WARM_UP)
    ours, our_rate = measured(lambda: score(hypotheses, references, metric).value, size)
    theirs, their_rate = measured(lambda: peer.measure(hypotheses, references), size)
    if peer.is_same and ours != theirs:
        raise SystemExit(f"{metric}: {ours!r} here, {theirs!r} by {peer.package}")
    return against(f"{metric} of {size:,} pairs", our_rate, {peer.package: their_rate}, "pairs")


@contextmanager
def without_wordnet() -> Iterator[None]:
    """No data sets for a while; other benchmarks of the same process have theirs."""
    before = os.environ.get("REGARD_DATA")
    os.environ["REGARD_DATA"] = os.devnull
    try:
        yield
    finally:
        if before is None:
            del os.environ["REGARD_DATA"]
        else:
            os.environ["REGARD_DATA"] = before


def ratios(sizes: Sequence[int] = SIZES) -> Iterator[Ratio]:
    for size in sizes:
        for metric, peer in PEERS.items():
            if find_spec(peer.package) and size <= peer.most:
                with without_wordnet():
                    found = compare(metric, size)
                yield from found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", type=int, default=SIZES, help="so many pairs, and those alone")
    show(ratios(parser.parse_args().pairs))
