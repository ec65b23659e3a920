"""Rerank outputs of a search by a utility or by scores of other models."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Utility = Callable[[Sequence[str], Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class Ranked:
    """An output, its first place among the candidates, and the value it was ranked by."""

    text: str
    place: int
    value: float


def minimum_bayes_risk(
    samples: Sequence[str], utility: Utility, candidates: Sequence[str] | None = None
) -> list[Ranked]:
    """Return the distinct candidates (default: the samples), highest expected utility first.

    U(y) = mean over samples r of utility(y, r), where the samples stand for the distribution (Eikema and Aziz 2020). If
    the candidates are the samples, each is compared not with itself but with other samples of the same text, which
    count like all others: texts that were sampled often are likely. The utility is called once, as (hypotheses,
    references) with all pairs of distinct texts, and returns one number for each pair.
    """
    if not samples:
        raise ValueError("minimum Bayes risk needs at least one sample")
    draws = Counter(samples)
    excludes_own = candidates is None
    texts = list(dict.fromkeys(samples if candidates is None else candidates))
    pairs = [(text, reference) for text in texts for reference in draws]
    values = utility([text for text, _ in pairs], [reference for _, reference in pairs])
    if len(values) != len(pairs):
        raise ValueError(f"the utility gave {len(values)} values for {len(pairs)} pairs")
    worth = dict(zip(pairs, values, strict=True))
    places = {text: place for place, text in reversed(list(enumerate(samples if candidates is None else candidates)))}
    ranking = [Ranked(text, places[text], _expected_worth(text, draws, worth, excludes_own)) for text in texts]
    return sorted(ranking, key=lambda ranked: -ranked.value)  # stable: the earlier candidate stays first among equals


def _expected_worth(text: str, draws: Counter[str], worth: dict[tuple[str, str], float], excludes_own: bool) -> float:
    weights = draws - Counter([text]) if excludes_own else draws
    total = sum(weights.values())
    # A single sample has no others to be compared with; it is chosen whatever its value.
    return sum(count * worth[text, reference] for reference, count in weights.items()) / total if total else 0.0


@dataclass(frozen=True)
class Channel:
    """Weights of the three models of noisy-channel reranking (Yee et al. 2019)."""

    backward: float = 1.0  # weight of log p(source | output)
    language_model: float = 0.0  # weight of log p(output), if there is a language model


def noisy_channel(
    direct: Sequence[float], backward: Sequence[float], language_model: Sequence[float], channel: Channel
) -> list[float]:
    """Score each candidate by mean log-probabilities per token.

    log p(y|x) / |y| + w_b · log p(x|y) / |x| + w_l · log p(y) / |y|. The paper divides the first by the length of the
    output and the others by that of the source; here each is divided by the length of the text it scores.
    """
    return [
        forward + channel.backward * back + channel.language_model * fluent
        for forward, back, fluent in zip(direct, backward, language_model, strict=True)
    ]
