"""Choosing among the outputs that a search has found by something other than their probability."""

from dataclasses import replace

from regard.base.faults import Fault, TooLong
from regard.decoding.output import Hypothesis
from regard.decoding.pauses import between_steps
from regard.decoding.rerank import Channel, minimum_bayes_risk, noisy_channel
from regard.metrics.sentences import utility
from regard.tasks.translation.lengths import check_length, check_target
from regard.verbs.translate.model import Rank, TranslationModel


def by_risk(model: TranslationModel, metric: str, count: int = 1) -> Rank:
    """The `count` outputs that are worth most, on average, if any other of them were right.

    Minimum Bayes risk over samples (Eikema and Aziz 2020); an output's score is then its expected worth by the metric.
    """
    worth = utility(metric)

    def rank(text: str, found: list[Hypothesis]) -> list[Hypothesis]:
        if len(found) == 1:
            return found
        between_steps()
        ranked = minimum_bayes_risk(_texts(model, text, found), worth)
        return [replace(found[each.place], score=each.value) for each in ranked[:count]]

    return rank


def by_channel(model: TranslationModel, backward: TranslationModel, weight: float, count: int = 1) -> Rank:
    """The `count` best by log p(y|x) / |y| + weight · log p(x|y) / |x|, where p(x|y) is what `backward` gives.

    Noisy-channel reranking (Yee et al. 2019) without a language model; that sum becomes an output's score.
    """
    forward, back = model.recipe.data, backward.recipe.data
    if (back.source_language, back.target_language) != (forward.target_language, forward.source_language):
        raise Fault(
            f"A channel model must go from {forward.target_language} to {forward.source_language}, but this one goes "
            f"from {back.source_language} to {back.target_language}."
        )
    channel = Channel(weight, language_model=0.0)

    def rank(text: str, found: list[Hypothesis]) -> list[Hypothesis]:
        between_steps()
        outputs = _texts(model, text, found)
        _check_lengths(backward, outputs, text)
        sources = backward.task.encode_targets(outputs, [text.strip()] * len(outputs))
        likelihoods = backward.force(outputs, sources).tolist()
        direct = [sum(each.token_scores) for each in found]
        lengths = [(len(source) + 1, len(each.tokens) + 1) for source, each in zip(sources, found, strict=True)]
        values = noisy_channel(direct, likelihoods, [0.0] * len(found), lengths, channel)
        ranked = sorted(zip(found, values, strict=True), key=lambda each: -each[1])  # of equals the earlier stays first
        return [replace(hypothesis, score=value) for hypothesis, value in ranked[:count]]

    return rank


def _texts(model: TranslationModel, text: str, found: list[Hypothesis]) -> list[str]:
    """What was written for a text."""
    target = model.task.target_for(text)
    return [target.decode(each.tokens) for each in found]


def _check_lengths(backward: TranslationModel, outputs: list[str], text: str) -> None:
    try:
        for output in outputs:
            check_length(backward.task, output, 0)
        check_target(backward.task, text, 0)
    except TooLong as fault:
        raise Fault(f"The channel model cannot rank the outputs for {text[:40]!r}: {fault.sentence}") from None
