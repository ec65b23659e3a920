"""Scores of sentence pairs, each higher for a better pair; a pair that cannot be scored gets minus infinity."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from regard.base.faults import Fault, TooLong
from regard.data.corpora.languages import identifier_of
from regard.families.abilities import needs
from regard.verbs.embed.run import embed_each
from regard.verbs.opening import model_in

Pairs = Sequence[tuple[str, str]]
Side = Literal["source", "target"]
LIKELY = 0.2  # share of the expected language against the likeliest other; below it the text is in that other language
FITTED = 10_000  # pairs on which the map between two spaces of vectors is fitted


class Criterion(Protocol):
    """A way to score pairs."""

    name: str

    def fit(self, pairs: Callable[[], Iterable[tuple[str, str]]], count: int) -> None:
        """Learn what is needed before scoring from `pairs`, of which there are `count`."""

    def score(self, pairs: Pairs) -> list[float]:
        """Return the score of each pair."""


class Languages:
    """Probability that both sides are in the languages they should be in.

    The score of a side is p / (p + q): p is the probability of its language and q that of the likeliest other. The
    score of a pair is the lower one.
    """

    name = "languages"

    def __init__(self, source: str, target: str) -> None:
        self._identifier = identifier_of()
        self._languages = source, target
        for language in self._languages:
            if language not in self._identifier.labels:
                raise Fault(f"The language '{language}' cannot be identified; give two-letter codes, as in en-pt.")

    def fit(self, pairs: Callable[[], Iterable[tuple[str, str]]], count: int) -> None:
        pass

    def score(self, pairs: Pairs) -> list[float]:
        return [min(map(self._likelihood, pair, self._languages)) for pair in pairs]

    def _likelihood(self, text: str, language: str) -> float:
        ranked = self._identifier.rank(text)
        expected = next(float(share) for name, share in ranked if name == language)
        other = next(float(share) for name, share in ranked if name != language)
        return expected / (expected + other)


class Translators:
    """Probability of a target given its source, by one translator, or agreement of two of both directions.

    With one, the score is the mean log-probability per token. With two it is exp(-(|a - b| + (a + b) / 2)), where a
    and b are their cross-entropies per token: dual conditional cross-entropy (Junczys-Dowmunt 2018).
    """

    name = "model"

    def __init__(self, folders: Sequence[str], languages: tuple[str, str] | None) -> None:
        self._models: list[Any] = [_translator(folder) for folder in folders]
        data = [model.recipe.data for model in self._models]
        ways = [(options.source_language, options.target_language) for options in data]
        if languages and ways[0] != languages:
            raise Fault(f"{folders[0]} translates {'-'.join(ways[0])}, but --languages is {'-'.join(languages)}.")
        if len(ways) == 2 and ways[1] != ways[0][::-1]:
            raise Fault(
                f"Two models must translate in opposite directions, but {folders[0]} translates {'-'.join(ways[0])} "
                f"and {folders[1]} {'-'.join(ways[1])}."
            )

    def fit(self, pairs: Callable[[], Iterable[tuple[str, str]]], count: int) -> None:
        pass

    def score(self, pairs: Pairs) -> list[float]:
        forward = _translation_scores(self._models[0], pairs)
        if len(self._models) == 1:
            return forward
        back = _translation_scores(self._models[1], [(target, source) for source, target in pairs])
        return [
            -math.inf if -math.inf in (one, two) else math.exp(-abs(one - two) + (one + two) / 2)
            for one, two in zip(forward, back, strict=True)
        ]


class LanguageModels:
    """Fluency of one side by a language model, or its nearness to a domain by two.

    With one, the score is the mean log-probability per token. With two, the first of the domain and the second
    general, it is the difference of the log-probabilities per token (Moore and Lewis 2010).
    """

    name = "language-model"

    def __init__(self, folders: Sequence[str], side: Side) -> None:
        self._models = [_language_model(folder) for folder in folders]
        self._side = side

    def fit(self, pairs: Callable[[], Iterable[tuple[str, str]]], count: int) -> None:
        pass

    def score(self, pairs: Pairs) -> list[float]:
        texts = [pair[self._side == "target"] for pair in pairs]
        first = _text_scores(self._models[0], texts)
        means = [total / count for total, count in first]
        if len(self._models) == 1:
            return means
        second = _text_scores(self._models[1], texts)
        return [
            -math.inf if math.isinf(one) or math.isinf(two) else (one - two) / count
            for (one, count), (two, _) in zip(first, second, strict=True)
        ]


class Vectors:
    """Likeness of the vectors of both sides, as a cosine.

    A vector is the mean of a sentence's token vectors. One model reads both sides, or one reads each. The two sides lie
    in different spaces, so an orthogonal map from one to the other is fitted on some of the pairs first (Schönemann
    1966); that assumes that most of them are right.
    """

    name = "vectors"

    def __init__(self, folders: Sequence[str]) -> None:
        models = [model_in(folder, verb="embed") for folder in folders]
        for folder, model in zip(folders, models, strict=True):
            needs(model.recipe, "embed")
            if not hasattr(model.task, "read"):
                raise Fault(f"{folder} gives vectors of words, not of sentences; name a translator or another encoder.")
        self._models = models if len(models) == 2 else models * 2
        self._middles: list[np.ndarray] = []
        self._map = np.zeros((0, 0))

    def fit(self, pairs: Callable[[], Iterable[tuple[str, str]]], count: int) -> None:
        step = max(1, count // FITTED)
        chosen = [pair for number, pair in enumerate(pairs()) if number % step == 0 and all(pair)]
        if len(chosen) < 2:
            raise Fault("There are too few pairs to compare vectors; give at least two.")
        sides = self._sides(chosen)
        sides = [side[np.isfinite(sides[0]).all(1) & np.isfinite(sides[1]).all(1)] for side in sides]
        self._middles = [side.mean(0) for side in sides]
        source, target = (_unit(side - middle) for side, middle in zip(sides, self._middles, strict=True))
        left, _, right = np.linalg.svd(source.T @ target, full_matrices=False)
        self._map = left @ right

    def score(self, pairs: Pairs) -> list[float]:
        sides = zip(self._sides(pairs), self._middles, strict=True)
        source, target = (_unit(side - middle) for side, middle in sides)
        likeness: list[float] = ((source @ self._map) * target).sum(1).tolist()
        return [-math.inf if math.isnan(cosine) else cosine for cosine in likeness]

    def _sides(self, pairs: Pairs) -> list[np.ndarray]:
        return [
            np.array(list(_vectors(model, [pair[side] for pair in pairs]))) for side, model in enumerate(self._models)
        ]


def _translator(folder: str) -> Any:
    model = model_in(folder, verb="translate")
    if model.recipe.task != "translation":
        raise Fault(f"{folder} is no translator of text; name one with --model.")
    return model


def _language_model(folder: str) -> Any:
    model = model_in(folder)
    if model.recipe.task != "language":
        raise Fault(f"{folder} is no language model; name one with --language-model, or a translator with --model.")
    return model


def _translation_scores(model: Any, pairs: Pairs) -> list[float]:
    from regard.verbs.translate.reranking import mean_scores

    task, longest = model.task, model.task.model.options.longest
    sizes = zip(
        task.encode_sources([source for source, _ in pairs]),
        task.target.encode_all([target for _, target in pairs]),
        strict=True,
    )
    fitting = [number for number, sides in enumerate(sizes) if max(map(len, sides)) < longest]
    scores = [-math.inf] * len(pairs)
    means = mean_scores(model, [pairs[number][0] for number in fitting], [pairs[number][1] for number in fitting])
    for number, mean in zip(fitting, means, strict=True):
        scores[number] = mean
    return scores


def _text_scores(model: Any, texts: Sequence[str]) -> list[tuple[float, int]]:
    """Return the log-probability and the number of tokens of each text; those too long score minus infinity."""
    scores, left = [(-math.inf, 1)] * len(texts), list(range(len(texts)))
    while left:
        try:
            scored = model.score([texts[number] for number in left])
        except TooLong as fault:
            left.pop(fault.number)
            continue
        for number, text in zip(left, scored, strict=True):
            scores[number] = text.score, len(text.token_scores)
        break
    return scores


def _vectors(model: Any, texts: Sequence[str]) -> Iterator[np.ndarray]:
    """Yield the vector of each text in the last layer; not a number for a text too long."""
    width = None
    for vectors in _embedded(model, texts):
        if vectors is not None:
            layer = max(vectors.layers)
            vector = vectors.sentence[layer].float().cpu().numpy()
            width = len(vector)
            yield vector
        else:
            yield np.full(width or _width(model), np.nan, np.float32)


def _embedded(model: Any, texts: Sequence[str]) -> Iterator[Any]:
    """Yield the vectors of texts; None for one that is too long."""
    longest = getattr(getattr(model.task.model, "options", None), "longest", None)
    tokeniser = getattr(model.task, "source", None) or getattr(model.task, "tokeniser", None)
    if longest is None or tokeniser is None:
        yield from embed_each(model.task, texts)
        return
    fits = [len(tokens) < longest for tokens in tokeniser.encode_all(list(texts))]
    vectors = embed_each(model.task, [text for text, is_fitting in zip(texts, fits, strict=True) if is_fitting])
    for is_fitting in fits:
        yield next(vectors) if is_fitting else None


def _width(model: Any) -> int:
    (vectors,) = embed_each(model.task, ["a"])
    return int(vectors.layers[max(vectors.layers)].shape[1])


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
