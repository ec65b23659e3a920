"""Unknown words of outputs, replaced by the words of the source that the model looked at most when it wrote them.

So done with the attention of recurrent translators by Jean et al. 2015 (section 3.3), who look the word of the source
up in a dictionary first, as is done here where one is given.
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
    """One output of a text that has unknown words."""

    text: int
    rank: int
    tokens: Sequence[int]


def replace_unknown(
    model: TranslationModel, texts: Sequence[str], found: Sequence[list[Hypothesis]], dictionary: Mapping[str, str]
) -> list[list[Wording]]:
    """All outputs in words, none of them unknown but for outputs that have nothing to look at."""
    target = _check(model, dictionary)
    worded = model.wordings(texts, found)
    unknown = [
        _Output(number, rank, each.tokens)
        for number, own in enumerate(found)
        for rank, each in enumerate(own)
        if target.unknown in each.tokens
    ]
    for number, weights in model.looks([texts[each.text] for each in unknown], [each.tokens for each in unknown]):
        text, rank, tokens = unknown[number]
        words = words_in(model.task.source, texts[text].strip())
        places = weights[:, : len(words)].argmax(dim=1).tolist()
        looked = {place: words[places[place]] for place, token in enumerate(tokens) if token == target.unknown}
        worded[text][rank] = _with_words(worded[text][rank], {n: dictionary.get(w, w) for n, w in looked.items()})
    return worded


def _check(model: TranslationModel, dictionary: Mapping[str, str]) -> Tokeniser:
    """Refuse a model that writes no unknown words or has no attention, and a dictionary that gives no single words."""
    source, target = model.task.source, model.task.target
    if words_in(source, "a") != ["a"] or words_in(target, "a") != ["a"]:
        raise Fault("Unknown words can be replaced where tokens are words; this model has other tokens.")
    if crossing(model.task.model) is None:
        raise Fault("This model has no attention that could say by what an unknown word is to be replaced.")
    for word, translation in dictionary.items():
        if len(translation.split()) != 1:
            raise Fault(f"A dictionary gives one word for one word; for {word!r} it has {translation!r}.")
    return target


def _with_words(wording: Wording, words: Mapping[int, str]) -> Wording:
    """Return the wording with these words in some places."""
    assert isinstance(wording.target, WordTokeniser)
    extended = wording.target.extended(words.values())
    tokens = [
        extended.token_of(words[place]) if place in words else token for place, token in enumerate(wording.tokens)
    ]
    return Wording(tokens, extended)
