"""What a language model adds to a translator's search: English to Portuguese of Tatoeba.

    .venv/bin/python benchmarks/fusion.py --out runs/fusion

It trains a translator by the recipe tatoeba-en-pt, one of the other direction, and the language models of the recipes
ngram-tatoeba-pt and lstm-tatoeba-pt over its tokens; chooses all weights on the validation pairs, which none of the
four has learnt from; and scores the test once, each search beside the translator alone. The weights are kept in OUT's
weights.json; another seed takes them with --weights and goes to the test at once. Meant for a GPU; with --set
training.steps=… the translators are worse and the whole is quicker.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice, product
from pathlib import Path

from regard.base.model_folder import read_recipe
from regard.data.corpora.prepared import is_prepared, read_valid
from regard.data.corpora.text import read_pairs
from regard.decoding.output import Hypothesis
from regard.decoding.rerank import Channel, noisy_channel
from regard.families import check_recipe
from regard.metrics import score
from regard.metrics.significance import Sums, difference, summing
from regard.model import load
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate.model import TranslationModel, load_translation_model
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.request import helpers_of
from regard.verbs.translate.reranking import channel_means
from regard.verbs.translate.run import runner
from regard.verbs.translate.search import find

RECIPES = ("ngram-tatoeba-pt", "lstm-tatoeba-pt")
FUSE_WEIGHTS = (0.05, 0.1, 0.2, 0.3)
CHANNEL_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 1.0)
PRIOR_WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.4)
CHANNEL_BEAM = 8
WAITING = 0.5  # seconds between two looks whether a corpus is prepared


# Training


def start(recipe: str, out: Path, *settings: str) -> subprocess.Popen[bytes]:
    """Begin a training beside the others, its output in a file."""
    changes = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "regard", "train", recipe, "--out", str(out), "--resume", *changes]
    with out.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def train_all(folder: Path, settings: list[str], lstm_settings: list[str]) -> None:
    """Train all four, the others as soon as the translator's corpus is prepared; it is the slowest."""
    folder.mkdir(parents=True, exist_ok=True)
    forth = start("tatoeba-en-pt", folder / "en-pt", *settings)
    while not is_prepared(folder / "en-pt" / "training" / "corpus") or not (folder / "en-pt" / "recipe.toml").exists():
        if forth.poll() not in (None, 0):
            sys.exit(f"The translator was not trained; see {folder / 'en-pt.log'}.")
        time.sleep(WAITING)
    back = start("tatoeba-en-pt", folder / "pt-en", *settings, *swapped(folder))
    own = [f"data.tokeniser.from={folder / 'en-pt'}", f"data.leave_out={folder / 'en-pt'}"]
    counted, lstm = (folder / recipe for recipe in RECIPES)
    others = {counted: start(counted.name, counted, *own), lstm: start(lstm.name, lstm, *own, *lstm_settings)}
    for out, process in ({folder / "en-pt": forth, folder / "pt-en": back} | others).items():
        check(process, out)


def check(process: subprocess.Popen[bytes], out: Path) -> None:
    if process.wait():
        sys.exit(f"{out.name} was not trained; see {out.with_suffix('.log')}.")


def swapped(folder: Path) -> list[str]:
    """Settings for the other direction: the same pairs the other way round, and the same validation pairs."""
    forth = check_recipe(read_recipe(folder / "en-pt")).data
    pairs = {
        "train": [pair for corpus in forth.train for pair in read_pairs(corpus)],
        "valid": read_valid(folder / "en-pt" / "training" / "corpus"),
        "test": [pair for corpus in forth.test for pair in read_pairs(corpus)],
    }
    for split, several in pairs.items():
        lines = "".join(f"{target}\t{source}\n" for source, target in several)
        (folder / f"pt-en.{split}.tsv").write_text(lines, "utf-8")
    files = [f'data.{split}={{pairs="{folder}/pt-en.{split}.tsv"}}' for split in pairs]
    return [*files, "data.source_language=pt", "data.target_language=en"]


# Translating


@dataclass(frozen=True)
class Data:
    """Sentences and their references."""

    sources: list[str]
    references: list[str]

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> "Data":
        return cls([source for source, _ in pairs], [target for _, target in pairs])

    def bleu(self, outputs: list[str]) -> float:
        return score(outputs, [self.references], "bleu").value


class Table:
    """The rows that are printed, each beside the first."""

    def __init__(self, data: Data, folder: Path) -> None:
        self.data, self.folder = data, folder
        self.first: Sums | None = None
        print("| search | weights | BLEU | against the translator alone | chrF | seconds |")
        print("| --- | --- | --- | --- | --- | --- |")

    def add(self, name: str, weights: str, outputs: list[str], seconds: float) -> None:
        """Score outputs and keep them in a file."""
        (self.folder / f"{name.replace(' ', '-')}.pt").write_text("".join(f"{each}\n" for each in outputs), "utf-8")
        sums = summing("bleu")(outputs, [self.data.references])
        self.first = self.first or sums
        apart = difference([self.first], [sums])
        against = "–" if sums is self.first else f"{apart.value:+.2f}, p = {apart.randomisation:.3f}"
        chrf = score(outputs, [self.data.references], "chrf").value
        found = f"{self.data.bleu(outputs):.2f} | {against} | {chrf:.2f} | {seconds:.0f}"
        print(f"| {name} | {weights} | {found} |", flush=True)


@dataclass
class Searches:
    """Every search of one translator, with what helps it."""

    forth: TranslationModel
    back: TranslationModel
    language_models: dict[str, LanguageModel]

    def fused(self, sources: list[str], name: str = "", weight: float = 0.0) -> list[str]:
        """By the beam of the recipe, fused with a language model if one is named."""
        helpers = helpers_of(self.language_models[name], weight) if name else {}
        return [each.text for each in runner(self.forth, self.forth.plan(n_best=1, **helpers))(whole_texts(sources))]

    def candidates(self, sources: list[str], name: str) -> "Candidates":
        """All that a wider beam finds, with what the three models say of it."""
        began = time.monotonic()
        plan = self.forth.plan(beam=CHANNEL_BEAM, n_best=CHANNEL_BEAM)
        found = find([self.forth.task], whole_texts(sources), plan)
        searched = time.monotonic() - began
        means = channel_means(self.forth, self.back, self.language_models[name], sources, found)
        return Candidates(self.forth, found, means, searched, time.monotonic() - began)


@dataclass
class Candidates:
    """Outputs for some sentences, and the means that the noisy channel weighs."""

    model: TranslationModel
    found: list[list[Hypothesis]]
    means: tuple[list[float], list[float], list[float]]
    searched: float  # seconds, before the means
    seconds: float  # in all

    def best(self, channel: Channel) -> list[str]:
        worth = iter(noisy_channel(*self.means, channel))
        ranked = (zip(islice(worth, len(own)), own, strict=True) for own in self.found)
        return [self.model.task.write(max(each, key=lambda pair: pair[0])[1].tokens) for each in ranked]


@dataclass(frozen=True)
class Weights:
    """Of each language model in the search, and of each noisy channel; that without a language model is "none"."""

    fused: dict[str, float]
    channels: dict[str, Channel]

    def save(self, place: Path) -> None:
        place.write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")

    @classmethod
    def read(cls, place: Path) -> "Weights":
        table = json.loads(place.read_text("utf-8"))
        return cls(table["fused"], {name: Channel(**each) for name, each in table["channels"].items()})


def choose_weights(searches: Searches, valid: Data) -> Weights:
    """The weights that are best on the validation pairs."""
    alone = valid.bleu(searches.fused(valid.sources))
    print(f"validation, {len(valid.sources):,} pairs: alone {alone:.2f} BLEU", flush=True)
    weights, channels = dict[str, float](), dict[str, Channel]()
    for name in RECIPES:
        fused = {weight: valid.bleu(searches.fused(valid.sources, name, weight)) for weight in FUSE_WEIGHTS}
        print(f"{name} fused:", ", ".join(f"{weight} {value:.2f}" for weight, value in fused.items()), flush=True)
        weights[name] = max(fused, key=lambda weight: fused[weight])
        candidates = searches.candidates(valid.sources, name)
        grid = [Channel(*each) for each in product(CHANNEL_WEIGHTS, PRIOR_WEIGHTS)]
        ranked = {each: valid.bleu(candidates.best(each)) for each in grid}
        for each, value in ranked.items():
            print(f"{name} channel {each.backward} prior {each.language_model}: {value:.2f}", flush=True)
        channels[name] = max(ranked, key=lambda each: ranked[each])
        channels["none"] = max((each for each in grid if not each.language_model), key=lambda each: ranked[each])
    return Weights(weights, channels)


def print_table(searches: Searches, test: Data, folder: Path, chosen: Weights) -> None:
    """Every search on the test, with the weights that were chosen."""
    weights, channels = chosen.fused, chosen.channels
    table, began = Table(test, folder), time.monotonic()
    table.add("alone", "–", searches.fused(test.sources), time.monotonic() - began)
    for name in RECIPES:
        began = time.monotonic()
        outputs = searches.fused(test.sources, name, weights[name])
        table.add(f"fused {name}", f"W {weights[name]}", outputs, time.monotonic() - began)
    for number, name in enumerate(RECIPES):
        candidates = searches.candidates(test.sources, name)
        if number == 0:
            by_mean = candidates.best(Channel(0.0, 0.0))
            table.add(f"beam {CHANNEL_BEAM} by the mean", "–", by_mean, candidates.searched)
            none = channels["none"]
            table.add("channel", f"A {none.backward}", candidates.best(none), candidates.seconds)
        own = channels[name]
        weighed = f"A {own.backward}, B {own.language_model}"
        table.add(f"channel and {name}", weighed, candidates.best(own), candidates.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/fusion"))
    parser.add_argument("--set", action="append", default=[], help="a setting of both translators")
    parser.add_argument("--lstm-set", action="append", default=[], help="a setting of the LSTM")
    parser.add_argument("--weights", type=Path, help="a file of weights that were chosen before")
    parser.add_argument("--no-test", action="store_true", help="choose weights, and leave the test alone")
    asked = parser.parse_args()
    folder: Path = asked.out
    train_all(folder, asked.set, asked.lstm_set)
    forth, back = (load_translation_model(folder / name) for name in ("en-pt", "pt-en"))
    loaded = {recipe: load(folder / recipe) for recipe in RECIPES}
    searches = Searches(forth, back, {name: each for name, each in loaded.items() if isinstance(each, LanguageModel)})
    if asked.weights is None:
        weights = choose_weights(searches, Data.of(read_valid(folder / "en-pt" / "training" / "corpus")))
        weights.save(folder / "weights.json")
    else:
        weights = Weights.read(asked.weights)
    if not asked.no_test:
        test = Data.of([pair for corpus in forth.recipe.data.test for pair in read_pairs(corpus)])
        print_table(searches, test, folder, weights)


if __name__ == "__main__":
    main()
