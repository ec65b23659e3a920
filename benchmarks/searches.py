"""One trained translator, every search: quality, variety and pace, as the table in docs/ledger.md.

    .venv/bin/python benchmarks/searches.py MODEL [--sentences N] [--risk-samples N]

Each search translates the same test sentences. Variety is 100 minus the mean chrF between two of the four outputs for
a sentence: 0 if they are all the same. p says whether BLEU differs from that of greedy search, by approximate
randomisation over sentences. Tokens a second are those of the best outputs by the time of one core, which other work
on the machine does not disturb.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.engines.translated import Translated
from regard.metrics import score
from regard.metrics.significance import difference, summing
from regard.metrics.utilities import utility
from regard.verbs.translate.evaluation import from_split
from regard.verbs.translate.model import TranslationModel, load_translation_model
from regard.verbs.translate.plan import Plan, whole_texts
from regard.verbs.translate.run import runner

WARM_UP = 8  # sentences


class Kind(NamedTuple):
    name: str
    plan: Plan
    several: bool = True  # whether its outputs for one sentence can be compared with each other


def kinds(model: TranslationModel, risk_samples: int) -> Iterator[Kind]:
    def beam(name: str, width: int, several: bool = True, length_penalty: float | None = None, **search: Any) -> Kind:
        plan = model.plan(beam=width, n_best=min(4, width), length_penalty=length_penalty, search=search)
        return Kind(name, plan, several=several)

    def draws(name: str, **sampling: Any) -> Kind:
        return Kind(name, model.plan(n_best=4, sample=sampling))

    yield beam("greedy", 1, several=False)
    for width in (2, 4, 8):
        yield beam(f"beam {width}", width, several=width >= 4)
    yield beam("beam 4, no length penalty", 4, length_penalty_kind="none")
    yield beam("beam 4, mean log-probability", 4, length_penalty_kind="average", length_penalty=1.0)
    yield beam("beam 4, stop at the first four", 4, stop="first")
    yield beam("beam 4, exhaustive", 4, stop="exhaustive")
    yield beam("beam 4, coverage penalty 0.2", 4, coverage_penalty=0.2)
    yield beam("diverse beam, 4 groups of 1", 4, groups=4, diversity=0.5)
    yield draws("sampling")
    yield draws("sampling, temperature 0.5", temperature=0.5)
    yield draws("sampling, top-k 10", top_k=10)
    yield draws("sampling, top-p 0.9", top_p=0.9)
    yield draws("sampling, min-p 0.1", min_p=0.1)
    yield draws("sampling, typical 0.9", typical=0.9)
    for kind, sampling in (
        ("", {}),
        (" with min-p 0.1", {"min_p": 0.1}),
        (" at temperature 0.5", {"temperature": 0.5}),
    ):
        for metric in ("chrf", "bleu"):
            name = f"minimum Bayes risk by {metric}, {risk_samples} samples{kind}"
            plan = model.plan(mbr=metric, samples=risk_samples, n_best=1, sample=sampling)
            yield Kind(name, plan, several=False)


def variety(found: list[Translated]) -> float:
    pairs = [pair for each in found for pair in combinations([text for text, _ in each.n_best], 2)]
    return 100 - statistics.mean(utility("chrf")([one for one, _ in pairs], [other for _, other in pairs]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--sentences", type=int, default=10**9)
    parser.add_argument("--risk-samples", type=int, default=32)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = load_translation_model(asked.model, device="cpu")
    data = from_split(model, asked.model, "test")
    sources, references = data.sources[: asked.sentences], [list(each)[: asked.sentences] for each in data.references]
    print("| search | BLEU | against greedy | chrF | variety | tokens/s |\n| --- | --- | --- | --- | --- | --- |")
    greedy = None
    # Or the first search would pay for what all of them need.
    runner(model, model.plan(beam=1))(whole_texts(sources[:WARM_UP]))
    for kind in kinds(model, asked.risk_samples):
        print(kind.name, file=sys.stderr)
        began = time.process_time()
        found = runner(model, kind.plan)(whole_texts(sources))
        seconds = time.process_time() - began
        outputs = [each.text for each in found]
        sums = summing("bleu")(outputs, references)
        greedy = greedy or sums
        apart = difference([greedy], [sums])
        values = (score(outputs, references, metric).value for metric in ("bleu", "chrf"))
        bleu, chrf = (f"{value:.2f}" for value in values)
        against = "–" if sums is greedy else f"{apart.value:+.2f}, p = {apart.randomisation:.3f}"
        kinds_apart = f"{variety(found):.1f}" if kind.several else "–"
        tokens = sum(len(each.tokens) + 1 for each in found)
        print(f"| {kind.name} | {bleu} | {against} | {chrf} | {kinds_apart} | {tokens / seconds:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
