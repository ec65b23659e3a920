"""Rerank the outputs of a search by something other than their probability."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import torch

from regard.base.faults import Fault, TextFault, TooLong
from regard.base.pauses import between_steps
from regard.decoding.output import Hypothesis
from regard.decoding.rerank import Channel, minimum_bayes_risk, noisy_channel
from regard.tasks.translation.lengths import check_length, check_target
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.search import SEARCH_TOKENS, batches_of

if TYPE_CHECKING:
    from regard.verbs.generate.model import LanguageModel

Rank = Callable[[Sequence[str], Sequence[list[Hypothesis]]], list[list[Hypothesis]]]


def by_risk(model: TranslationModel, metric: str, count: int = 1) -> Rank:
    """Return a ranking by expected utility: the `count` best outputs on average over the others as references.

    This is minimum Bayes risk over samples (Eikema and Aziz 2020); an output's score becomes its expected metric.
    """
    from regard.metrics.utilities import utility  # loads all metrics, which only this needs

    worth = utility(metric)

    def rank_one(text: str, results: list[Hypothesis]) -> list[Hypothesis]:
        if len(results) == 1:
            return results
        between_steps()
        ranked = minimum_bayes_risk(_outputs(model, text, results), worth)
        return [replace(results[ranking.place], score=ranking.value) for ranking in ranked[:count]]

    return lambda texts, results: [rank_one(text, hypotheses) for text, hypotheses in zip(texts, results, strict=True)]


def by_channel(
    model: TranslationModel,
    backward: TranslationModel,
    channel: Channel,
    prior: "LanguageModel | None" = None,
    count: int = 1,
) -> Rank:
    """Return a ranking of the `count` best by log p(y|x) / |y| + w_b · log p(x|y) / |x| + w_l · log p(y) / |y|.

    This is noisy-channel reranking (Yee et al. 2019): p(x|y) comes from `backward`, and p(y) from the language model
    `prior`, which may have its own tokens. The sum becomes an output's score.
    """
    forward, back = model.recipe.data, backward.recipe.data
    if (back.source_language, back.target_language) != (forward.target_language, forward.source_language):
        raise Fault(
            f"A channel model must go from {forward.target_language} to {forward.source_language}, but this one goes "
            f"from {back.source_language} to {back.target_language}."
        )

    def rank(texts: Sequence[str], results: Sequence[list[Hypothesis]]) -> list[list[Hypothesis]]:
        worth = iter(noisy_channel(*channel_means(model, backward, prior, texts, results), channel))
        return [_best(hypotheses, list(islice(worth, len(hypotheses))), count) for hypotheses in results]

    return rank


def channel_means(
    model: TranslationModel,
    backward: TranslationModel,
    prior: "LanguageModel | None",
    texts: Sequence[str],
    results: Sequence[list[Hypothesis]],
) -> tuple[list[float], list[float], list[float]]:
    """Return the mean log-probabilities per token of all outputs for some texts, as flat lists.

    They are those of the output given the text, of the text given the output, and of the output alone.
    """
    outputs = [_outputs(model, text, hypotheses) for text, hypotheses in zip(texts, results, strict=True)]
    for text, candidates in zip(texts, outputs, strict=True):
        _check_lengths(backward, candidates, text)
    written = [output for candidates in outputs for output in candidates]
    sources = [text.strip() for text, candidates in zip(texts, outputs, strict=True) for _ in candidates]
    direct = [_mean(hypothesis.token_scores) for hypotheses in results for hypothesis in hypotheses]
    fluent = [0.0] * len(written) if prior is None else _prior_means(prior, outputs)
    return direct, mean_scores(backward, written, sources), fluent


def _best(hypotheses: list[Hypothesis], worth: list[float], count: int) -> list[Hypothesis]:
    """Return the `count` hypotheses with the highest worth; of equals, the earlier first."""
    ranked = sorted(zip(hypotheses, worth, strict=True), key=lambda pair: -pair[1])
    return [replace(hypothesis, score=value) for hypothesis, value in ranked[:count]]


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def _prior_means(prior: "LanguageModel", outputs: Sequence[Sequence[str]]) -> list[float]:
    """Return the mean log-probability per token of each output; `outputs` has a list for each text."""
    try:
        scored = prior.score([output for candidates in outputs for output in candidates])
    except TooLong as fault:
        texts = [number for number, candidates in enumerate(outputs) for _ in candidates]
        raise TextFault(
            texts[fault.number],
            "one of its outputs is longer than the context of the language model that ranks them. Name a "
            "prior with a longer context, or one that forgets (when_full = forget).",
        ) from None
    return [_mean(text.token_scores) for text in scored]


@torch.no_grad()
def mean_scores(model: TranslationModel, texts: list[str], outputs: list[str]) -> list[float]:
    """Return the mean log-probability per token of each output, given its text."""
    tokens = model.task.encode_targets(texts, outputs)
    read = model.task.encode_sources(texts)
    lengths = {number: max(len(tokens[number]), len(read[number])) + 1 for number in range(len(texts))}
    means = [0.0] * len(texts)
    for numbers in batches_of(lengths, SEARCH_TOKENS):
        between_steps()
        likelihoods = model.force([texts[n] for n in numbers], [tokens[n] for n in numbers]).tolist()
        for number, likelihood in zip(numbers, likelihoods, strict=True):
            means[number] = likelihood / (len(tokens[number]) + 1)
    return means


def _outputs(model: TranslationModel, text: str, hypotheses: list[Hypothesis]) -> list[str]:
    """Return the outputs for a text."""
    target = model.task.target_for(text)
    return [target.decode(hypothesis.tokens) for hypothesis in hypotheses]


def _check_lengths(backward: TranslationModel, outputs: list[str], text: str) -> None:
    try:
        for output in outputs:
            check_length(backward.task, output, 0)
        check_target(backward.task, text, 0)
    except TooLong as fault:
        raise Fault(f"The channel model cannot rank the outputs for {text[:40]!r}: {fault.sentence}") from None
