"""States of the words of labelled sentences, in every layer of a network that reads or writes them."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.base.faults import Fault, TextFault
from regard.base.progress import Progress, silent
from regard.data.tokenisers.tokeniser import Tokeniser, words_in
from regard.data.tokenisers.words import split_words
from regard.data.word_labels import LabelledSentence
from regard.viewing.sides import Words

AT_ONCE = 64  # sentences in a batch
MOST_UNKNOWN = 0.3  # share of unknown tokens from which on a model seems to know another language
FEWEST_MATCHED = 0.5  # share of the sentences whose words must be found among the tokens


@dataclass(frozen=True)
class WordStates:
    """States (word, width) of all words of some sentences, one after another, by the number of their layer.

    `firsts` has the number of each sentence's first word.
    """

    sentences: Sequence[LabelledSentence]
    firsts: Sequence[int]
    layers: dict[int, Tensor]


@runtime_checkable
class HasSources(Protocol):
    """A task whose tokeniser may depend on the text that is read, as that of a translator."""

    def source_for(self, text: str) -> Tokeniser: ...


Row = tuple[LabelledSentence, Words, Sequence[Tensor]]  # a sentence, its tokens, and their states in every layer


@torch.no_grad()
def encoder_states(
    task: Any, sentences: Sequence[LabelledSentence], layers: Sequence[int] | None = None, progress: Progress = silent
) -> WordStates:
    """Return the states of words that a model reads: those of a translator's encoder, or of any other reader."""
    return gather_words(_read(task, sentences, progress), len(sentences), layers)


def _read(task: Any, sentences: Sequence[LabelledSentence], progress: Progress) -> Iterator[Row]:
    unknown = count = 0
    for first in range(0, len(sentences), AT_ONCE):
        batch = sentences[first : first + AT_ONCE]
        tokenisers = [_tokeniser(task, sentence.text) for sentence in batch]
        texts = [_spaced(*pair) for pair in zip(tokenisers, (sentence.text for sentence in batch), strict=True)]
        try:
            vectors = task.embed(task.read(texts))
        except TextFault as fault:
            raise fault.without_number() from None
        for sentence, text, tokeniser, embedded in zip(batch, texts, tokenisers, vectors, strict=True):
            tokens = tokeniser.encode(text)
            unknown, count = unknown + tokens.count(tokeniser.unknown), count + len(tokens)
            yield sentence, _as_written(tokeniser, text, embedded.text), list(embedded.layers.values())
        progress("reading", min(first + AT_ONCE, len(sentences)), len(sentences))
    if unknown > MOST_UNKNOWN * count:
        raise Fault(
            f"{unknown / count:.0%} of the tokens are unknown to this model, which seems to know another language; "
            "give sentences that it knows with --tagged, or another --language."
        )


def gather_words(rows: Iterable[Row], count: int, layers: Sequence[int] | None = None) -> WordStates:
    """Join the states of whole words in some layers, by default in all.

    Sentences whose words cannot be found among the tokens are left out.
    """
    sentences: list[LabelledSentence] = []
    by_layer: dict[int, list[Tensor]] = {}
    for sentence, tokens, states in rows:
        by_layer = by_layer or {layer: [] for layer in _existing(layers, len(states))}
        places = tokens_of_words(sentence.words, tokens)
        if places is not None and all(len(tokens.tokens) == len(layer) for layer in states):
            sentences.append(sentence)
            for layer, words in by_layer.items():
                words += [states[layer][place].float().mean(0) for place in places]
    if len(sentences) < FEWEST_MATCHED * count:
        raise Fault(
            f"In {count - len(sentences):,} of {count:,} sentences the words cannot be found among the model's tokens, "
            "so it seems to know another language; give sentences that it knows with --tagged."
        )
    firsts = [0]
    for sentence in sentences[:-1]:
        firsts.append(firsts[-1] + len(sentence.words))
    return WordStates(sentences, firsts, {layer: torch.stack(words) for layer, words in by_layer.items()})


def _existing(layers: Sequence[int] | None, count: int) -> Sequence[int]:
    """Return the layers, by default all `count`; refuse one that the model does not have."""
    if layers and (missing := [layer for layer in layers if layer >= count]):
        available = f"layers 0 to {count - 1}" if count > 1 else "layer 0 alone"
        raise Fault(f"This model has {available}; there is no layer {missing[0]}.")
    return layers or range(count)


def tokens_of_words(words: Sequence[str], tokens: Words) -> list[list[int]] | None:
    """Return the tokens of each word, without punctuation at its ends; None if words and tokens do not match."""
    by_unit: list[list[int]] = [[] for _ in tokens.words]
    for token, unit in enumerate(tokens.places):
        by_unit[unit].append(token)
    result, unit = [], 0
    for word in words:
        first, letters = unit, 0
        while letters < len(word) and unit < len(tokens.words):
            letters, unit = letters + len(tokens.words[unit]), unit + 1
        units = [number for number in range(first, unit) if not _is_punctuation(tokens.words[number])]
        chosen = [token for number in units or range(first, unit) for token in by_unit[number]]
        if letters != len(word) or not chosen:
            return None
        result.append(chosen)
    return result


def _is_punctuation(text: str) -> bool:
    return all(unicodedata.category(character).startswith("P") for character in text)


def _tokeniser(task: Any, text: str) -> Tokeniser:
    tokeniser: Tokeniser = task.source_for(text) if isinstance(task, HasSources) else task.tokeniser
    return tokeniser


def _spaced(tokeniser: Tokeniser, text: str) -> str:
    """Return a text with spaces around punctuation, if the tokeniser splits only at spaces."""
    return " ".join(split_words(text)) if words_in(tokeniser, "a.") == ["a."] else text


def _as_written(tokeniser: Tokeniser, text: str, tokens: Words) -> Words:
    """Return the tokens with the words as written, which a word tokeniser may not know."""
    words = words_in(tokeniser, text)
    return Words(tokens.tokens, words, range(len(words))) if len(words) == len(tokens.tokens) else tokens
