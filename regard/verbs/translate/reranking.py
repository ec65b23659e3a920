"""Choosing among the outputs that a search has found by something other than their probability."""

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
    """The `count` outputs that are worth most, on average, if any other of them were right.

    Minimum Bayes risk over samples (Eikema and Aziz 2020); an output's score is then its expected worth by the metric.
    """
    from regard.metrics.utilities import utility  # every metric, which only this needs

    worth = utility(metric)

    def rank_one(text: str, found: list[Hypothesis]) -> list[Hypothesis]:
        if len(found) == 1:
            return found
        between_steps()
        ranked = minimum_bayes_risk(_outputs(model, text, found), worth)
        return [replace(found[each.place], score=each.value) for each in ranked[:count]]

    return lambda texts, found: [rank_one(text, several) for text, several in zip(texts, found, strict=True)]


def by_channel(
    model: TranslationModel,
    backward: TranslationModel,
    channel: Channel,
    prior: "LanguageModel | None" = None,
    count: int = 1,
) -> Rank:
    """The `count` best by log p(y|x) / |y| + w_b · log p(x|y) / |x| + w_l · log p(y) / |y|.

    Noisy-channel reranking (Yee et al. 2019): p(x|y) is what `backward` gives, and p(y) what the language model `prior`
    does, which may have tokens of its own. That sum becomes an output's score.
    """
    forward, back = model.recipe.data, backward.recipe.data
    if (back.source_language, back.target_language) != (forward.target_language, forward.source_language):
        raise Fault(
            f"A channel model must go from {forward.target_language} to {forward.source_language}, but this one goes "
            f"from {back.source_language} to {back.target_language}."
        )

    def rank(texts: Sequence[str], found: Sequence[list[Hypothesis]]) -> list[list[Hypothesis]]:
        worth = iter(noisy_channel(*channel_means(model, backward, prior, texts, found), channel))
        return [_best(several, list(islice(worth, len(several))), count) for several in found]

    return rank


def channel_means(
    model: TranslationModel,
    backward: TranslationModel,
    prior: "LanguageModel | None",
    texts: Sequence[str],
    found: Sequence[list[Hypothesis]],
) -> tuple[list[float], list[float], list[float]]:
    """Return the mean log-probabilities per token of all outputs for some texts, one after another.

    Those of the output given the text, of the text given the output, and of the output alone.
    """
    outputs = [_outputs(model, text, several) for text, several in zip(texts, found, strict=True)]
    for text, own in zip(texts, outputs, strict=True):
        _check_lengths(backward, own, text)
    written = [output for own in outputs for output in own]
    read = [text.strip() for text, own in zip(texts, outputs, strict=True) for _ in own]
    direct = [_mean(each.token_scores) for several in found for each in several]
    fluent = [0.0] * len(written) if prior is None else _prior_means(prior, outputs)
    return direct, _backward_means(backward, written, read), fluent


def _best(found: list[Hypothesis], worth: list[float], count: int) -> list[Hypothesis]:
    """The `count` that are worth most, of equals the earlier first."""
    ranked = sorted(zip(found, worth, strict=True), key=lambda each: -each[1])
    return [replace(hypothesis, score=value) for hypothesis, value in ranked[:count]]


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def _prior_means(prior: "LanguageModel", outputs: Sequence[Sequence[str]]) -> list[float]:
    """The mean log-probability of a token of each output; `outputs` has those for each text."""
    try:
        found = prior.score([output for own in outputs for output in own])
    except TooLong as fault:
        texts = [number for number, own in enumerate(outputs) for _ in own]
        raise TextFault(
            texts[fault.number],
            "the language model that ranks its outputs cannot read one of them: it is longer than the context. Name a "
            "prior with a longer context, or one that forgets (when_full = forget).",
        ) from None
    return [_mean(each.token_scores) for each in found]


@torch.no_grad()
def _backward_means(backward: TranslationModel, outputs: list[str], sources: list[str]) -> list[float]:
    """The mean log-probability of a token of each source, given the output that was written for it."""
    tokens = backward.task.encode_targets(outputs, sources)
    read = backward.task.encode_sources(outputs)
    lengths = {number: max(len(tokens[number]), len(read[number])) + 1 for number in range(len(outputs))}
    means = [0.0] * len(outputs)
    for numbers in batches_of(lengths, SEARCH_TOKENS):
        between_steps()
        likelihoods = backward.force([outputs[n] for n in numbers], [tokens[n] for n in numbers]).tolist()
        for number, likelihood in zip(numbers, likelihoods, strict=True):
            means[number] = likelihood / (len(tokens[number]) + 1)
    return means


def _outputs(model: TranslationModel, text: str, found: list[Hypothesis]) -> list[str]:
    """Return the outputs for a text."""
    target = model.task.target_for(text)
    return [target.decode(each.tokens) for each in found]


def _check_lengths(backward: TranslationModel, outputs: list[str], text: str) -> None:
    try:
        for output in outputs:
            check_length(backward.task, output, 0)
        check_target(backward.task, text, 0)
    except TooLong as fault:
        raise Fault(f"The channel model cannot rank the outputs for {text[:40]!r}: {fault.sentence}") from None
