"""BLEU of the same outputs by several implementations, cuts and smoothings: how far the numbers are apart.

Run it with `.venv/bin/python benchmarks/implementations.py` after `regard data get metrics-reference --from DIR`. It
prints the table of docs/ledger.md: a whole test set (the system online-A of WMT 2017, English to German), and the one
sentence by which lectures explain BLEU. nltk is in the extra `bench`, and passed over where it is not installed.
"""

import argparse
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import sacrebleu

from regard.data.catalogue.entries import locate
from regard.data.lines import read_lines
from regard.metrics.ngrams import tokens

ORDERS = 4
SENTENCE = ["рыжий кот прилег на лавку"]
WANTED = [["кот лежит на лавке"], ["на лавку легла кошка"]]  # two references, each a list of lines

Texts = Sequence[str]
References = Sequence[Texts]  # each a whole reference
Implementation = Callable[[Texts, References], float]


def by_sacrebleu(**options: Any) -> Implementation:
    def measure(outputs: Texts, references: References) -> float:
        return sacrebleu.BLEU(force=True, **options).corpus_score(outputs, references).score

    return measure


def mean_of_sentences(outputs: Texts, references: References) -> float:
    """Return the mean of sacreBLEU's scores of single sentences."""
    metric = sacrebleu.BLEU(effective_order=True)
    return statistics.mean(
        metric.sentence_score(output, list(texts)).score for output, *texts in zip(outputs, *references, strict=True)
    )


def unclipped(outputs: Texts, references: References) -> float:
    """Return BLEU as some lectures print it: an n-gram counts as often as it is written, if any reference has it."""
    matches, totals, written, wanted = [0] * ORDERS, [0] * ORDERS, 0, 0
    for output, *texts in zip(outputs, *references, strict=True):
        words, others = tokens(output), [tokens(text) for text in texts]
        written += len(words)
        wanted += min((len(other) for other in others), key=lambda length: (abs(length - len(words)), length))
        for order in range(1, ORDERS + 1):
            known = {ngram for other in others for ngram in ngrams(other, order)}
            own = Counter(ngrams(words, order))
            matches[order - 1] += sum(count for ngram, count in own.items() if ngram in known)
            totals[order - 1] += own.total()
    if not all(matches):
        return 0.0
    shares = [math.log(match / total) for match, total in zip(matches, totals, strict=True)]
    return 100 * min(1.0, math.exp(1 - wanted / written)) * math.exp(statistics.mean(shares))


def ngrams(words: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[first:] for first in range(order)), strict=False)


def by_nltk(cut: Callable[[str], list[str]], smoothing: str) -> Implementation:
    def measure(outputs: Texts, references: References) -> float:
        from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu

        wanted = [[cut(text) for text in texts] for texts in zip(*references, strict=True)]
        method = getattr(SmoothingFunction(), smoothing)
        return 100 * float(corpus_bleu(wanted, [cut(output) for output in outputs], smoothing_function=method))

    return measure


IMPLEMENTATIONS: dict[tuple[str, str, str], Implementation] = {
    ("sacreBLEU, as `bleu`", "13a", "exp"): by_sacrebleu(),
    ("sacreBLEU", "13a", "none"): by_sacrebleu(smooth_method="none"),
    ("sacreBLEU", "13a", "floor 0.1"): by_sacrebleu(smooth_method="floor"),
    ("sacreBLEU", "13a", "add-k 1"): by_sacrebleu(smooth_method="add-k"),
    ("sacreBLEU", "13a, lower case", "exp"): by_sacrebleu(lowercase=True),
    ("sacreBLEU", "intl", "exp"): by_sacrebleu(tokenize="intl"),
    ("sacreBLEU", "characters", "exp"): by_sacrebleu(tokenize="char"),
    ("as multi-bleu.perl, on plain text", "white space", "none"): by_sacrebleu(tokenize="none", smooth_method="none"),
    ("sacreBLEU, mean of sentences", "13a", "exp"): mean_of_sentences,
    ("the formula with unclipped counts", "13a", "none"): unclipped,
    ("nltk", "13a", "none (`method0`)"): by_nltk(tokens, "method0"),
    ("nltk", "13a", "add 0.1 (`method1`)"): by_nltk(tokens, "method1"),
    ("nltk", "13a", "add 1 (`method2`)"): by_nltk(tokens, "method2"),
    ("nltk", "13a", "exp (`method3`)"): by_nltk(tokens, "method3"),
    ("nltk", "white space", "none (`method0`)"): by_nltk(str.split, "method0"),
}


def test_set() -> tuple[Texts, References]:
    folder = "metrics-reference:wmt17-en-de-systems/"
    outputs = list(read_lines(locate(f"{folder}newstest2017.online-A.0.en-de.txt.gz")))
    return outputs, [list(read_lines(locate(f"{folder}reference.txt.gz")))]


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    whole = test_set()
    print("| implementation | text is cut by | smoothing | test set | sentence |")
    print("| --- | --- | --- | ---: | ---: |")
    for (name, cut, smoothing), measure in IMPLEMENTATIONS.items():
        if name == "nltk" and find_spec("nltk") is None:
            continue
        print(f"| {name} | {cut} | {smoothing} | {measure(*whole):.2f} | {measure(SENTENCE, WANTED):.2f} |")


if __name__ == "__main__":
    main()
