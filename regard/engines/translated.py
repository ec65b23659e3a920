"""Translations by any engine, and how translations of sentences join into that of a line.

Nothing here needs torch, so that a fast engine can answer without loading it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from regard.base.faults import Fault
from regard.base.notebook import paragraph, table, tokens_by_probability
from regard.data.corpora.sentences import Sentence, rejoin, replace_texts, split_long, split_sentences, truncate

Alignment = list[tuple[int, int]]
_WORD = re.compile("[^ ]+")
_BESIDE = 3  # most tokens besides those of the letters: a space, a language code, the end


@dataclass(frozen=True)
class Translated:
    """One translation: the best text and its score, its tokens, and the other candidates.

    The token scores are the translator's log-probabilities; if a language model was fused with it, `language_scores`
    has that model's.
    """

    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]
    n_best: list[tuple[str, float]]
    _align: Callable[[], Alignment] = field(repr=False, compare=False)
    language_scores: list[float] = field(default_factory=list)
    unsure: bool | None = None  # True if the model is less sure of it than usual; None if unknown

    def __repr__(self) -> str:
        others = f", {len(self.n_best) - 1} others" if len(self.n_best) > 1 else ""
        unsure = ", unsure" if self.unsure else ""
        return f"Translated({self.text!r}, score {self.score:.3f}{unsure}{others})"

    def _repr_html_(self) -> str:
        parts = [paragraph(self.text), tokens_by_probability(self.tokens, self.token_scores)]
        if len(self.n_best) > 1:
            parts.append(table(([escape(text), f"{score:.3f}"] for text, score in self.n_best), ["candidate", "score"]))
        return "".join(parts)

    @cached_property
    def alignment(self) -> Alignment:
        """For each word of the output, the input word with the most attention: (source word, target word)."""
        return self._align()


@dataclass(frozen=True)
class Cutting:
    """Cutting of lines before translation: whole, by sentences, or so that every part fits."""

    language: str
    measure: Callable[[str], int]  # tokens of a text, including its end
    longest: int  # most tokens the model has seen in one piece, including the end; of longer texts it writes too little
    sentences: bool = False
    long_ones: Literal["split", "truncate", "refuse"] = "refuse"

    def __call__(self, line: str) -> list[Sentence]:
        sentences = split_sentences(line, self.language) if self.sentences else [Sentence("", line, "")]
        if self.long_ones == "refuse":
            return sentences
        return [part for sentence in sentences for part in self._fitting(sentence)]

    def is_long(self, text: str) -> bool:
        """Return True if a text is longer than any in the training data."""
        if text.isascii() and len(text) + _BESIDE < self.longest:  # each ASCII letter is at most one token
            return False
        return self.measure(text) > self.longest

    def _fitting(self, sentence: Sentence) -> list[Sentence]:
        if not self.is_long(sentence.text):
            return [sentence]
        if self.long_ones == "truncate":
            return [sentence._replace(text=truncate(sentence.text, self.measure, self.longest))]
        parts = split_long(sentence.text, self.measure, self.longest, self.language)
        parts[0] = parts[0]._replace(before=sentence.before + parts[0].before)
        parts[-1] = parts[-1]._replace(after=parts[-1].after + sentence.after)
        return parts


def join_sentences(sentences: Sequence[Sentence], parts: Sequence[Translated]) -> Translated:
    """Join the translations of a line's sentences: texts with their white space, tokens in order, scores added.

    The n-th best candidate consists of the n-th best of every sentence, or of its last. The cost of an inner sentence's
    end is added to its last token. The line is unsure if any sentence is.
    """
    if len(parts) == 1 and not (sentences[0].before or sentences[0].after):
        only = parts[0]  # most lines have one sentence, and `replace` would take four times as long
        return Translated(
            only.text,
            only.score,
            only.tokens,
            only.token_scores,
            only.n_best,
            lambda: _align(sentences, parts),
            only.language_scores,
            only.unsure,
        )
    is_fused = any(part.language_scores for part in parts)
    # A sentence of white space alone has no tokens to score.
    language_scores = [part.language_scores or [0.0] for part in parts] if is_fused else []
    ranks = range(max(len(part.n_best) for part in parts))
    candidates = [[part.n_best[min(rank, len(part.n_best) - 1)] for part in parts] for rank in ranks]
    return Translated(
        rejoin(sentences, [part.text for part in parts]),
        sum(part.score for part in parts),
        [token for part in parts for token in part.tokens],
        _in_a_row([part.token_scores for part in parts]),
        [
            (rejoin(sentences, [text for text, _ in candidate]), sum(score for _, score in candidate))
            for candidate in candidates
        ],
        lambda: _align(sentences, parts),
        _in_a_row(language_scores),
        None if all(part.unsure is None for part in parts) else any(part.unsure for part in parts),
    )


def _in_a_row(parts: Sequence[Sequence[float]]) -> list[float]:
    """Return the scores of all tokens, and of the last end; empty if not requested."""
    if not parts or not all(parts):
        return []
    scores: list[float] = []
    unwritten = 0.0  # ends of sentences that have no token
    for *token_scores, end in parts[:-1]:
        unwritten += 0.0 if token_scores else end
        scores += [*token_scores[:-1], token_scores[-1] + end] if token_scores else []
    *token_scores, end = parts[-1]
    return [*scores, *token_scores, end + unwritten]


class Linked(NamedTuple):
    """The words of a line's sentences and of their translations, by position, and which come from which."""

    sources: list[tuple[int, int]]
    targets: list[tuple[int, int]]
    links: Alignment


def link_sentences(sentences: Sequence[Sentence], parts: Sequence[Translated]) -> Linked:
    """Link the words of each sentence, even if no white space separates two sentences.

    Links to words that a sentence does not have are dropped; a model without spaces may produce them.
    """
    sources, targets, links = list[tuple[int, int]](), list[tuple[int, int]](), Alignment()
    translations = replace_texts(sentences, [part.text for part in parts])
    for source, target, part in zip(_word_places(sentences), _word_places(translations), parts, strict=True):
        links += [
            (read + len(sources), written + len(targets))
            for read, written in part.alignment
            if read < len(source) and written < len(target)
        ]
        sources += source
        targets += target
    return Linked(sources, targets, links)


def _word_places(sentences: Sequence[Sentence]) -> Iterator[list[tuple[int, int]]]:
    """Yield the words of each sentence by their positions in the line."""
    place = 0
    for before, text, after in sentences:
        place += len(before)
        yield [(place + start, place + end) for start, end in map(re.Match.span, _WORD.finditer(text))]
        place += len(text) + len(after)


def _align(sentences: Sequence[Sentence], parts: Sequence[Translated]) -> Alignment:
    """Return the alignment of a line; two sentences joined without white space share a word."""
    sources, targets, links = link_sentences(sentences, parts)
    read, written = _numbers(sources), _numbers(targets)
    return list(dict.fromkeys((read[source], written[target]) for source, target in links))


def _numbers(words: Sequence[tuple[int, int]]) -> list[int]:
    """Return the number of each word in its line: one that begins where another ends belongs to it."""
    begins = (start != end for (_, end), (start, _) in pairwise(words))
    return list(accumulate(begins, initial=0))


def line_key(line: int, part: int) -> int:
    """Return the random key of a part of a line, unique among all parts of all lines."""
    if line >= _LINES:
        raise Fault(f"Sampling supports at most {_LINES:,} lines; translate the rest in a second run.")
    return line + part * _LINES


_LINES = 2**40
