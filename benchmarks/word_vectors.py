"""Word vectors: ours beside gensim's, in one process on the same text, with the same settings and two threads each.

    .venv/bin/python benchmarks/word_vectors.py                          # words a second, two or three minutes
    .venv/bin/python benchmarks/word_vectors.py --quality english        # how good they are, over seeds; half an hour
    .venv/bin/python benchmarks/word_vectors.py --gpu english            # ours alone, on a GPU: both

Speed is that of learning alone: text that is read and cut, and a vocabulary that is counted. gensim is given lists of
words, and for skip-gram also a file of lines (`corpus_file`), which is its fastest way. Quality is measured by the same
code on both, from the same tokens. gensim is in the extra `bench`. Text is that of the recipes
`word2vec-english` and `word2vec-portuguese`.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from table import Contender, Ratio, against, in_turns, show

from regard.base.progress import silent
from regard.base.recipe import read_table
from regard.data.corpora.text import file_of
from regard.data.tokenisers.symbols import END, NAMES
from regard.data.vectors.questions import read_analogies, read_judged_pairs
from regard.data.vectors.word_vectors import WordVectors
from regard.families import check_recipe, task_class
from regard.models.words import FastText, FastTextOptions, Word2Vec, Word2VecOptions
from regard.models.words.learning import Learning
from regard.models.words.on_gpu import MOST_PROGRAMS
from regard.models.words.vocabulary import Vocabulary
from regard.runs.recipes import recipe_path
from regard.tasks.words.measures import add_scores, compare_similarities, solve_analogies

THREADS = 2
ROUNDS = 2
WORDS = 300_000  # of the text that speed is measured on
BUCKETS = 200_000
EPOCHS = 5
PROGRAMS = (32, 64, 128, 256, 512)  # that learn side by side on a GPU
EVALUATION = {
    "english": ("questions-words.txt.gz", "wordsim353.tsv.gz", "simlex999.txt.gz"),
    "portuguese": ("pt/LX-4WAnalogiesBr.txt.gz", "pt/LX-WordSim-353.txt.gz", "pt/LX-SimLex-999.txt.gz"),
}
METHODS = {
    "skip-gram, negative": ({}, {"sg": 1}),
    "CBOW, negative": ({"method": "cbow"}, {"sg": 0}),
    "skip-gram, hierarchical": ({"loss": "hierarchical"}, {"sg": 1, "hs": 1, "negative": 0}),
    "fastText, skip-gram": ({"buckets": BUCKETS}, {"sg": 1, "bucket": BUCKETS}),
}


class Corpus(NamedTuple):
    """A text as tokens and as words, with its vocabulary."""

    tokens: np.ndarray
    vocabulary: Vocabulary

    def sentences(self) -> list[list[str]]:
        ends = np.flatnonzero(self.tokens == END)
        names = np.array([*NAMES, *self.vocabulary.words], dtype=object)
        pieces = (piece[piece >= len(NAMES)] for piece in np.split(self.tokens, ends + 1))
        return [names[piece].tolist() for piece in pieces if len(piece)]

    def words(self) -> int:
        return int((self.tokens >= len(NAMES)).sum())

    def first(self, words: int) -> "Corpus":
        """Every so many sentences, about so many words, with a vocabulary of their own."""
        ends = np.append(0, np.flatnonzero(self.tokens == END) + 1)
        step = max(1, len(self.tokens) // words)
        pieces = [self.tokens[ends[each] : ends[each + 1]] for each in range(0, len(ends) - 1, step)]
        tokens = np.concatenate(pieces)
        counts = np.bincount(tokens, minlength=len(self.vocabulary) + len(NAMES))[len(NAMES) :]
        order = np.argsort(-counts, kind="stable")
        known = order[counts[order] > 0]
        numbers = np.ones(len(self.vocabulary) + len(NAMES), np.int64)
        numbers[: len(NAMES)] = np.arange(len(NAMES))
        numbers[known + len(NAMES)] = np.arange(len(known)) + len(NAMES)
        words_of = [self.vocabulary.words[each] for each in known]
        return Corpus(numbers[tokens], Vocabulary(words_of, counts[known]))


def corpus_of(language: str, folder: Path) -> Corpus:
    recipe: Any = check_recipe(read_table(recipe_path(f"word2vec-{language}")))
    prepared = task_class(recipe).prepare(recipe, folder, silent, lambda text: None, None)
    return Corpus(np.asarray(prepared.text.splits["train"], np.int64), prepared.vocabulary)


def our_model(corpus: Corpus, options: dict[str, Any], seed: int = 1) -> Word2Vec:
    if "buckets" in options:
        model: Word2Vec = FastText(FastTextOptions(**options), corpus.vocabulary)
    else:
        model = Word2Vec(Word2VecOptions(**options), corpus.vocabulary)
    model.initialise(seed)
    return model


def our_epochs(model: Word2Vec, corpus: Corpus, learning: Learning, epochs: int, seed: int = 1) -> int:
    """Learn from the whole text so often; gives how many words that were, those left out that are in no vocabulary."""
    material = model.material(corpus.tokens, END, len(NAMES), learning)
    for epoch in range(epochs):
        for batch in model.batches(material, seed, epoch, epochs, 0):
            model.update(batch, learning)
    return epochs * corpus.words()


def gensim_model(corpus: Corpus, options: dict[str, Any], seed: int = 1, workers: int = THREADS) -> Any:
    """With the settings that are our defaults; all words of the text are in the vocabulary already."""
    from gensim.models import FastText as GensimFastText
    from gensim.models import Word2Vec as GensimWord2Vec

    common = {"vector_size": 100, "window": 5, "min_count": 1, "sample": 1e-3, "alpha": 0.025, "min_alpha": 1e-4}
    kind = GensimFastText if "bucket" in options else GensimWord2Vec
    model = kind(**common | {"negative": 5, "workers": workers, "seed": seed, "epochs": EPOCHS} | options)
    model.build_vocab(corpus.sentences())
    return model


def ratios() -> list[Ratio]:
    """Words a second of each method."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = corpus_of("english", Path(folder) / "text").first(WORDS)
        lines = Path(folder) / "lines.txt"
        sentences = corpus.sentences()
        lines.write_text("".join(f"{' '.join(words)}\n" for words in sentences), encoding="utf-8")
        found = []
        for name, (ours, theirs) in METHODS.items():
            rate = 0.05 if "CBOW" in name else 0.025
            learning = Learning(rate, 1e-4, 50_000, THREADS)
            peer = gensim_model(corpus, theirs)
            contenders: dict[str, Contender] = {
                "regard": _ours(our_model(corpus, ours), corpus, learning),
                "gensim": lambda peer=peer: _train(peer, corpus, corpus_iterable=sentences),
            }
            if name.startswith("skip-gram, negative"):
                contenders["gensim, corpus_file"] = lambda peer=peer: _train(peer, corpus, corpus_file=str(lines))
            rates = in_turns(contenders, ROUNDS)
            found += against(name, rates.pop("regard"), rates, "words")
        return found


def _ours(model: Word2Vec, corpus: Corpus, learning: Learning) -> Contender:
    return lambda: float(our_epochs(model, corpus, learning, 1))


def _train(peer: Any, corpus: Corpus, **text: Any) -> float:
    peer.train(**text, total_words=peer.corpus_total_words, epochs=1)
    return float(corpus.words())


def on_gpu(language: str, seeds: int) -> None:
    """Ours on a GPU: words a second and quality, by how many programs learn side by side."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        corpus = corpus_of(language, Path(folder) / "text")
    print(f"{language}, {EPOCHS} epochs of {corpus.words():,} words, {seeds} seeds", flush=True)
    cases = [("skip-gram, negative", programs) for programs in PROGRAMS]
    cases += [("CBOW, negative", MOST_PROGRAMS), ("fastText, skip-gram", MOST_PROGRAMS)]
    for number, (name, programs) in enumerate(cases):
        learning = Learning(0.05 if "CBOW" in name else 0.025, 1e-4, 50_000, programs)
        results, rates = [], []
        for seed in range(seeds + 1):
            model = our_model(corpus, METHODS[name][0], seed)
            model.move_to(torch.device("cuda"))
            begun = time.perf_counter()
            words = our_epochs(model, corpus, learning, EPOCHS if seed else 1, seed)  # the first compiles
            if seed:
                rates.append(words / (time.perf_counter() - begun))
                vectors = WordVectors(list(corpus.vocabulary.words), model.vectors("centres").cpu().numpy())
                results.append(measures(vectors, language))
        if not number:
            print(_row("method", "programs", "words a second", *results[0]))
            print(_row(*["---"] * (len(results[0]) + 3)))
        print(_row(name, str(programs), f"{statistics.median(rates):,.0f}", *_spreads(results)), flush=True)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _spreads(results: list[dict[str, float]]) -> list[str]:
    """The mean of each measure over seeds, and its standard deviation."""
    cells = [[each[name] for each in results] for name in results[0]]
    return [f"{statistics.fmean(cell):.1f} ± {statistics.stdev(cell) if len(cell) > 1 else 0:.1f}" for cell in cells]


def measures(vectors: WordVectors, language: str) -> dict[str, float]:
    """Analogies solved, and correlations with judgements, all in percent."""
    analogies, *pairs = (file_of(f"word-vectors-eval:{name}") for name in EVALUATION[language])
    solved = add_scores(solve_analogies(vectors, read_analogies(analogies)), "all")
    found = {f"analogies ({solved.tried:,})": 100 * solved.accuracy}
    for path in pairs:
        score = compare_similarities(vectors, read_judged_pairs(path))
        found[f"{path.name.partition('.')[0]} ({score.compared})"] = 100 * score.spearman
    return found


def quality(language: str, method: str, seeds: int, threads: int) -> None:
    """Both, over some seeds, by analogies and similarities."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = corpus_of(language, Path(folder) / "text")
    ours, theirs = METHODS[method]
    learning = Learning(0.05 if "CBOW" in method else 0.025, 1e-4, 50_000, threads)
    sentences = corpus.sentences()

    def by_regard(seed: int) -> WordVectors:
        model = our_model(corpus, ours, seed)
        our_epochs(model, corpus, learning, EPOCHS, seed)
        return WordVectors(list(corpus.vocabulary.words), model.vectors("centres").numpy())

    def by_gensim(seed: int) -> WordVectors:
        peer = gensim_model(corpus, theirs | {"alpha": learning.learning_rate}, seed, threads)
        # By words, as ours; by sentences, which is its usual way, its learning rate falls otherwise.
        peer.train(sentences, total_words=peer.corpus_total_words, epochs=EPOCHS)
        return WordVectors(list(peer.wv.index_to_key), peer.wv.vectors.copy())

    makers: dict[str, Callable[[int], WordVectors]] = {"regard": by_regard, "gensim": by_gensim}
    print(f"{language}, {method}, {EPOCHS} epochs of {corpus.words():,} words, {seeds} seeds", flush=True)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in makers}
    for seed, name in _turns(seeds, makers):
        results[name].append(measures(makers[name](seed), language))
        said = {key: round(value, 2) for key, value in results[name][-1].items()}
        print(name, seed, said, file=sys.stderr, flush=True)
    print(_row("by", *results["regard"][0]))
    print(_row(*["---"] * (len(results["regard"][0]) + 1)))
    for name, found in results.items():
        print(_row(name, *_spreads(found)))


def _turns(seeds: int, makers: dict[str, Any]) -> Iterator[tuple[int, str]]:
    return ((seed, name) for seed in range(1, seeds + 1) for name in makers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quality", choices=EVALUATION)
    parser.add_argument("--method", choices=METHODS, default="skip-gram, negative")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--gpu", choices=EVALUATION)
    given = parser.parse_args()
    if given.gpu:
        on_gpu(given.gpu, given.seeds)
    elif given.quality:
        quality(given.quality, given.method, given.seeds, given.threads)
    else:
        show(ratios())


if __name__ == "__main__":
    main()
