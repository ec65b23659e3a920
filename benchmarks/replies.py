"""What a model of conversations replies, by several searches: how varied, how long, how often the same.

    .venv/bin/python benchmarks/replies.py MODEL [--split valid] [--examples 5]

distinct-n is the share of all n-grams of words in the replies that are different ones (Li et al. 2016), `same` that of
the commonest reply among all. The first row is what people said.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from regard.metrics.ngrams import tokens
from regard.verbs.translate.evaluation import from_split
from regard.verbs.translate.model import TranslationModel, load_translation_model
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.run import runner


def distinct(replies: Sequence[str], order: int) -> float:
    """The percentage of n-grams that are different ones."""
    cut = [tokens(reply) for reply in replies]
    ngrams = [tuple(words[place : place + order]) for words in cut for place in range(len(words) - order + 1)]
    return 100 * len(set(ngrams)) / max(1, len(ngrams))


def searches(model: TranslationModel, sources: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    def outputs(**asked: Any) -> list[str]:
        return [each.text for each in runner(model, model.plan(**asked))(whole_texts(sources))]

    yield "beam 4", outputs(beam=4)
    yield "greedy", outputs(beam=1)
    for name, sampling in {
        "sampling, top-k 10": {"top_k": 10},
        "sampling, top-p 0.9": {"top_p": 0.9},
        "sampling, temperature 0.7": {"temperature": 0.7},
        "sampling": {},
    }.items():
        yield name, outputs(n_best=1, sample=sampling)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--split", choices=("valid", "test"), default="valid")
    parser.add_argument("--examples", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = load_translation_model(asked.model)
    data = from_split(model, asked.model, asked.split)
    rows = [("people", [reply or "" for reply in data.references[0]]), *searches(model, data.sources)]
    print("| replies | distinct-1 | distinct-2 | words | same |\n| --- | --- | --- | --- | --- |")
    for name, replies in rows:
        (commonest, times), *_ = Counter(replies).most_common(1)
        values = (distinct(replies, 1), distinct(replies, 2), sum(len(tokens(each)) for each in replies) / len(replies))
        numbers = " | ".join(f"{value:.1f}" for value in values)
        print(f"| {name} | {numbers} | {100 * times / len(replies):.0f}%: {commonest} |")
    step = max(1, len(data.sources) // max(1, asked.examples))
    for place in range(0, len(data.sources), step)[: asked.examples]:
        print(f"\n{data.sources[place]}")
        for name, replies in rows:
            print(f"    {name}: {replies[place]}")


if __name__ == "__main__":
    main()
