"""Measure what BLEU sees of order, meaning, endings and other wordings, compared with other metrics.

    .venv/bin/python benchmarks/bleu_limits.py

Needs `regard data get multi30k` and `regard data get flickr8k --from DIR`, and takes half a minute. References of
multi30k are spoiled in known ways and scored against themselves: words shuffled (three seeds), halves swapped, every
"man" made a "woman" or a "guy". The endings of the words are cut off in the generated corpora of three languages. And
each of Flickr8k's five captions of a picture is scored against one to four of the others. All tables are Markdown.
"""

import argparse
import random
import re
import statistics
from collections.abc import Callable, Mapping, Sequence

from regard.data.captions.files import read_captions, read_names
from regard.data.corpora.text import file_of
from regard.data.generated.corpora import generate
from regard.data.lines import read_lines
from regard.metrics import score
from regard.metrics.stems import stem

SEEDS = (1, 2, 3)
METRICS = ("bleu1", "bleu", "chrf", "ribes")
LANGUAGES = {"English": ("demo", 0, "en"), "Portuguese": ("demo", 1, "pt"), "Russian": ("demo-ru", 1, "ru")}
STEMMERS = {"en": "english", "pt": "portuguese", "ru": "russian"}

Texts = Sequence[str]


def shuffled(texts: Texts, seed: int) -> list[str]:
    draws = random.Random(seed)
    return [" ".join(draws.sample(words, len(words))) for words in map(str.split, texts)]


def halves_swapped(text: str) -> str:
    words = text.split()
    middle = len(words) // 2
    return " ".join([*words[middle:], *words[:middle]])


def replaced(text: str, word: str, other: str) -> str:
    return re.sub(rf"\b{word}\b", other, text)


def without_endings(text: str, language: str) -> str:
    return re.sub(r"\w+", lambda word: stem(STEMMERS[language], word[0]), text.lower())


def values(outputs: Texts, references: Sequence[Texts], metrics: Sequence[str]) -> list[float]:
    """Return the scores of the outputs, all from 0 to 100."""
    scores = [score(outputs, references, metric).value for metric in metrics]
    return [value * 100 if metric == "ribes" else value for metric, value in zip(metrics, scores, strict=True)]


def show(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    print(f"\n| {title} | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def cells(found: Sequence[Sequence[float]]) -> list[str]:
    """Return the means of columns, with the largest minus the smallest where there are several rows."""
    spread = ["" if len(column) == 1 else f" ± {max(column) - min(column):.1f}" for column in zip(*found, strict=True)]
    return [
        f"{statistics.mean(column):.1f}{each}" for column, each in zip(zip(*found, strict=True), spread, strict=True)
    ]


def show_spoiled() -> None:
    """Show scores of spoiled references of multi30k."""
    texts = list(read_lines(file_of("multi30k:raw/test_2016_flickr.en.gz")))
    changes: dict[str, Callable[[str], str]] = {
        "halves swapped": halves_swapped,
        "man made woman": lambda text: replaced(text, "man", "woman"),
        "man made guy": lambda text: replaced(text, "man", "guy"),
    }
    rows = {"words shuffled": cells([values(shuffled(texts, seed), [texts], METRICS) for seed in SEEDS])}
    for name, change in changes.items():
        rows[name] = cells([values([change(text) for text in texts], [texts], METRICS)])
    hit = sum(replaced(text, "man", "guy") != text for text in texts)
    show(f"{len(texts)} English sentences, {hit} with a man", METRICS, rows)


def show_endings() -> None:
    """Show scores of references whose words have lost their endings."""
    rows = {}
    for name, (corpus, side, language) in LANGUAGES.items():
        texts = [pair[side].lower() for pair in generate(f"{corpus}:test")]
        cut = [without_endings(text, language) for text in texts]
        rows[name] = cells([values(cut, [texts], ("bleu", "chrf"))])
    show("endings cut off", ("bleu", "chrf"), rows)


def show_references() -> None:
    """Show scores of people's captions by the number of other captions they are compared with."""
    captions, names = read_captions("flickr8k:Flickr8k.token.txt"), read_names("flickr8k:Flickr_8k.testImages.txt")
    by_person = list(zip(*(captions[name] for name in names), strict=True))
    metrics = ("bleu", "chrf")
    rows = {}
    for count in range(1, 5):
        found = [
            values(by_person[person], [by_person[(person + step) % 5] for step in range(1, count + 1)], metrics)
            for person in range(5)
        ]
        rows[str(count)] = cells(found)
    show("references of a caption", metrics, rows)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    show_spoiled()
    show_endings()
    show_references()
