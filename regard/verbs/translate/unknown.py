"""Replace unknown words of outputs by the source words with the most attention.

Jean et al. 2015 (section 3.3) do this with the attention of recurrent translators. They look the source word up in a
dictionary first, as is done here if one is given.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.base.faults import Fault
from regard.data.tokenisers.tokeniser import Tokeniser, words_in
from regard.data.tokenisers.words import WordTokeniser
from regard.decoding.output import Hypothesis
from regard.tasks.translation.covering import crossing
from regard.verbs.translate.model import TranslationModel, Wording


class _Output(NamedTuple):
    """An output with unknown words."""

    text: int
    rank: int
    tokens: Sequence[int]


def replace_unknown(
    model: TranslationModel, texts: Sequence[str], results: Sequence[list[Hypothesis]], dictionary: Mapping[str, str]
) -> list[list[Wording]]:
    """Return all outputs with their unknown words replaced, except where there is no attention to use."""
    target = _check(model, dictionary)
    wordings = model.wordings(texts, results)
    unknown = [
        _Output(number, rank, hypothesis.tokens)
        for number, hypotheses in enumerate(results)
        for rank, hypothesis in enumerate(hypotheses)
        if target.unknown in hypothesis.tokens
    ]
    for number, weights in model.looks(
        [texts[hypothesis.text] for hypothesis in unknown], [hypothesis.tokens for hypothesis in unknown]
    ):
        text, rank, tokens = unknown[number]
        words = words_in(model.task.source, texts[text].strip())
        places = weights[:, : len(words)].argmax(dim=1).tolist()
        source_words = {place: words[places[place]] for place, token in enumerate(tokens) if token == target.unknown}
        wordings[text][rank] = _with_words(
            wordings[text][rank], {n: dictionary.get(w, w) for n, w in source_words.items()}
        )
    return wordings


def _check(model: TranslationModel, dictionary: Mapping[str, str]) -> Tokeniser:
    """Refuse a model whose tokens are not words or that has no attention, and a dictionary with several words."""
    source, target = model.task.source, model.task.target
    if words_in(source, "a") != ["a"] or words_in(target, "a") != ["a"]:
        raise Fault("Unknown words can be replaced only if tokens are words; this model has other tokens.")
    if crossing(model.task.model) is None:
        raise Fault("This model has no attention, which is needed to replace unknown words.")
    for word, translation in dictionary.items():
        if len(translation.split()) != 1:
            raise Fault(f"A dictionary gives one word for one word; for {word!r} it has {translation!r}.")
    return target


def _with_words(wording: Wording, words: Mapping[int, str]) -> Wording:
    """Return the wording with these words at some places."""
    assert isinstance(wording.target, WordTokeniser)
    extended = wording.target.extended(words.values())
    tokens = [
        extended.token_of(words[place]) if place in words else token for place, token in enumerate(wording.tokens)
    ]
    return Wording(tokens, extended)
