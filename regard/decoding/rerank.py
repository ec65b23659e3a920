"""Choosing among outputs that were found already, by what is handed in: a utility, or scores of other models."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Utility = Callable[[Sequence[str], Sequence[str]], Sequence[float]]


@dataclass(frozen=True)
class Ranked:
    """An output, where it first stood among the candidates, and what it was ranked by."""

    text: str
    place: int
    value: float


def minimum_bayes_risk(
    samples: Sequence[str], utility: Utility, candidates: Sequence[str] | None = None
) -> list[Ranked]:
    """The distinct candidates (default: the samples), those of most expected utility first.

    U(y) = mean over samples r of utility(y, r), the samples standing for the distribution (Eikema and Aziz 2020). Where
    the candidates are the samples, one is not compared with its own draw, but with other draws of the same text, which
    count like all others: what was drawn often is likely. The utility is called once, with all pairs of distinct texts,
    as (hypotheses, references), and gives one number for each pair.
    """
    if not samples:
        raise ValueError("minimum Bayes risk needs at least one sample")
    draws = Counter(samples)
    own = candidates is None
    texts = list(dict.fromkeys(samples if candidates is None else candidates))
    pairs = [(text, reference) for text in texts for reference in draws]
    values = utility([text for text, _ in pairs], [reference for _, reference in pairs])
    if len(values) != len(pairs):
        raise ValueError(f"the utility gave {len(values)} values for {len(pairs)} pairs")
    worth = dict(zip(pairs, values, strict=True))
    places = {text: place for place, text in reversed(list(enumerate(samples if candidates is None else candidates)))}
    found = [Ranked(text, places[text], _expected_worth(text, draws, worth, own)) for text in texts]
    return sorted(found, key=lambda each: -each.value)  # stable: of equals the earlier candidate stays first


def _expected_worth(text: str, draws: Counter[str], worth: dict[tuple[str, str], float], own: bool) -> float:
    weights = draws - Counter([text]) if own else draws
    total = sum(weights.values())
    # A single sample has no others to be compared with; it is chosen whatever it is worth.
    return sum(count * worth[text, reference] for reference, count in weights.items()) / total if total else 0.0


@dataclass(frozen=True)
class Channel:
    """Weights of the three models of noisy-channel reranking (Yee et al. 2019)."""

    backward: float = 1.0  # weight of log p(source | output)
    language_model: float = 0.0  # weight of log p(output), where a language model is asked


def noisy_channel(
    direct: Sequence[float], backward: Sequence[float], language_model: Sequence[float], channel: Channel
) -> list[float]:
    """Score each candidate by mean log-probabilities per token.

    log p(y|x) / |y| + w_b · log p(x|y) / |x| + w_l · log p(y) / |y|. The paper divides the first by the length of the
    output and the others by that of the source; here each is divided by the length of what it is the probability of.
    """
    return [
        forward + channel.backward * back + channel.language_model * fluent
        for forward, back, fluent in zip(direct, backward, language_model, strict=True)
    ]
