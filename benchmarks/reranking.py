"""Rerank the outputs of translators of any recipe by a channel model and a language model.

    .venv/bin/python benchmarks/reranking.py runs/shakespeare-1 runs/shakespeare-2 --channel runs/to-modern \
        --prior runs/ngram-original --metric bleu-tokenised --lower
    .venv/bin/python benchmarks/reranking.py runs/g2p --channel runs/p2g --metric exact --unseen

Each output of a beam of 8 is worth what the search or its mean log-probability per token says, plus A times the mean of
the channel and B times that of the language model. Which of the two, A and B are chosen on the validation data, by the
mean over all runs, and the test is scored once with them. With --unseen, words of the training data are left out of the
validation data. `benchmarks/fusion.py` trains all models that it needs for one recipe; this takes those that are there.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from statistics import fmean

from command_line import print_row

from regard.decoding.rerank import Channel, noisy_channel
from regard.metrics import score
from regard.model import load
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate.evaluation import TestData, from_split, mark_learnt
from regard.verbs.translate.model import TranslationModel, load_translation_model
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.reranking import channel_means
from regard.verbs.translate.search import find

BEAM = 8
CHANNEL_WEIGHTS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
PRIOR_WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.4)
BASES = ("score", "mean")  # what a search ranks by, with its length penalty; the mean log-probability per token
Measure = Callable[[TestData, list[str]], float]


@dataclass(frozen=True)
class Worth:
    """How outputs are weighed."""

    base: str
    channel: Channel

    def __str__(self) -> str:
        return f"{self.base}, A {self.channel.backward:g}, B {self.channel.language_model:g}"


UNCHANGED = Worth("score", Channel(0.0, 0.0))
GRID = [Worth(base, Channel(*pair)) for base in BASES for pair in product(CHANNEL_WEIGHTS, PRIOR_WEIGHTS)]


class Candidates:
    """The outputs of a beam for some sentences, and what the three models say of them."""

    def __init__(
        self, model: TranslationModel, channel: TranslationModel, prior: LanguageModel | None, data: TestData, beam: int
    ) -> None:
        self.data = data
        self.results = find([model.task], whole_texts(data.sources), model.plan(beam=beam, n_best=beam))
        mean, *self.others = channel_means(model, channel, prior, data.sources, self.results)
        scores = [hypothesis.score for hypotheses in self.results for hypothesis in hypotheses]
        self.own = {"score": scores, "mean": mean}
        self.texts = [
            [model.task.target_for(text).decode(hypothesis.tokens) for hypothesis in hypotheses]
            for text, hypotheses in zip(data.sources, self.results, strict=True)
        ]

    def best(self, worth: Worth) -> list[str]:
        ranks = iter(noisy_channel(self.own[worth.base], *self.others, worth.channel))
        return [_first(texts, list(islice(ranks, len(texts)))) for texts in self.texts]


def _first(texts: Sequence[str], ranks: Sequence[float]) -> str:
    """The text with the highest rank; of equals, the earlier."""
    return texts[max(range(len(texts)), key=lambda place: (ranks[place], -place))]


def measure_by(metric: str, lower: bool, unseen: bool) -> Measure:
    def measured(data: TestData, outputs: list[str]) -> float:
        if unseen:
            data, outputs = data.unlearnt(outputs)
        if lower:
            lists = [[line and line.lower() for line in lines] for lines in data.references]
            return score([output.lower() for output in outputs], lists, metric).value
        return score(outputs, data.references, metric).value

    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--channel", type=Path, required=True, help="a translator of the other direction")
    parser.add_argument("--prior", type=Path, help="a language model of the outputs")
    parser.add_argument("--metric", default="bleu")
    parser.add_argument("--lower", action="store_true", help="score in lower case")
    parser.add_argument("--unseen", action="store_true", help="leave out validation sources of the training data")
    parser.add_argument("--beam", type=int, default=BEAM)
    parser.add_argument("--no-test", action="store_true", help="choose weights, and leave the test alone")
    options = parser.parse_args()
    models = [load_translation_model(run) for run in options.runs]
    channel = load_translation_model(options.channel)
    prior = load(options.prior) if options.prior else None
    assert prior is None or isinstance(prior, LanguageModel)

    def candidates(split: str) -> list[Candidates]:
        pairs = zip(models, options.runs, strict=True)
        splits = [(model, mark_learnt(from_split(model, run, split), model, run)) for model, run in pairs]
        return [Candidates(model, channel, prior, data, options.beam) for model, data in splits]

    def values(found: list[Candidates], worth: Worth, measure: Measure) -> list[float]:
        return [measure(each.data, each.best(worth)) for each in found]

    measure = measure_by(options.metric, options.lower, options.unseen)
    found = candidates("valid")
    means = {worth: fmean(values(found, worth, measure)) for worth in GRID if prior or not worth.channel.language_model}
    chosen = max(means, key=lambda worth: means[worth])
    print_row(["weights", *(run.name for run in options.runs), "mean"], ())
    ranking = sorted(means, key=lambda worth: -means[worth])
    for name, of_split, shown, measured in (
        ("validation", found, [UNCHANGED, chosen, *ranking[1:6]], measure),
        (
            "test",
            [] if options.no_test else candidates("test"),
            [UNCHANGED, chosen],
            measure_by(options.metric, options.lower, False),
        ),
    ):
        for worth in shown if of_split else ():
            row = values(of_split, worth, measured)
            print_row([f"{name}: {worth}", *(f"{value:.2f}" for value in row), f"{fmean(row):.2f}"], ())


if __name__ == "__main__":
    main()
