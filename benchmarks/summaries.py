"""What summaries of the generated reports score that nobody learnt: the first sentences, and the best that there are.

Run it with `.venv/bin/python benchmarks/summaries.py --split test`. ROUGE of the first one, three and five sentences of
a report, and of the four sentences that have the most words in common with the true summary for their length, which
only who knows it could choose.
"""

import argparse
from collections import Counter
from collections.abc import Sequence

from regard.data.corpora.sentences import split_sentences
from regard.data.generated.corpora import SPLITS, generate
from regard.data.tokenisers.words import split_words
from regard.metrics import score

METRICS = ("rouge1", "rouge2", "rougeL")
CHOSEN = 4  # as many as there are facts in a summary


def lead(report: str, count: int) -> str:
    """The first sentences."""
    return " ".join(each.text for each in split_sentences(report, "en")[:count])


def closest(report: str, summary: str) -> str:
    """The sentences with the largest F1 of words with the summary, in their order."""
    wanted, sentences = Counter(split_words(summary)), [each.text for each in split_sentences(report, "en")]

    def likeness(sentence: str) -> float:
        own = Counter(split_words(sentence))
        return 2 * (own & wanted).total() / (own.total() + wanted.total())

    best = sorted(sentences, key=likeness, reverse=True)[:CHOSEN]
    return " ".join(sentence for sentence in sentences if sentence in best)


def show(name: str, outputs: Sequence[str], references: Sequence[str]) -> None:
    values = [score(list(outputs), list(references), metric).value for metric in METRICS]
    print(f"{name:32}" + "".join(f"{metric} {value:.3f}   " for metric, value in zip(METRICS, values, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Baselines for the generated summaries.")
    parser.add_argument("--split", choices=SPLITS, default="valid")
    pairs = generate(f"summaries:{parser.parse_args().split}")
    summaries = [summary for _, summary in pairs]
    for count in (1, 3, 5):
        show(f"the first {count} sentences", [lead(report, count) for report, _ in pairs], summaries)
    show(f"the {CHOSEN} closest sentences", [closest(*pair) for pair in pairs], summaries)


if __name__ == "__main__":
    main()
