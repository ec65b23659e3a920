"""A tagger: words with their letters, capitals and columns in, a network over them, and tags out."""

from dataclasses import replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.tagging.crf import Chain
from regard.models.tagging.letters import LetterReader
from regard.models.tagging.options import TaggerOptions
from regard.models.text.reader import OrderedReader
from regard.models.text.texts import InputTokens, TextRows


class Sizes(NamedTuple):
    """Sizes of a tagger's inputs and outputs, and the numbers of padding and unknown words."""

    words: int
    letters: int
    shapes: int
    columns: tuple[int, ...]  # the values of each column
    tags: int
    pad: int
    unknown: int
    pieces: InputTokens | None = None  # the vocabulary of parts of words, where those are read


class TokenInputs(NamedTuple):
    """Inputs of some sentences; `forms` says which row of `letters` spells each word.

    Behind the length of a sentence a row is padding. Where parts of words are read, `pieces` are those of all words of
    a sentence, and `firsts` the places of the first of each word; elsewhere there are none.
    """

    words: Int[Tensor, "batch time"]
    shapes: Int[Tensor, "batch time"]
    columns: Int[Tensor, "batch time column"]
    forms: Int[Tensor, "batch time"]
    letters: Int[Tensor, "form letter"]
    lengths: Int[Tensor, " batch"]
    pieces: Int[Tensor, "batch piece"]
    piece_lengths: Int[Tensor, " batch"]
    firsts: Int[Tensor, "batch time"]


class TokenFeatures(nn.Module):
    """Features next to a word's vector: its letters, its capitalisation, and further columns."""

    def __init__(self, options: TaggerOptions, sizes: Sizes) -> None:
        super().__init__()
        read = options.letters.reader != "none"
        self.letters = LetterReader(options.letters, sizes.letters, sizes.pad) if read else None
        self.shapes = _table(sizes.shapes, options.shape_width) if options.shape_width else None
        self.columns = nn.ParameterList(_table(values, options.column_width) for values in sizes.columns)
        of_letters = self.letters.width if self.letters is not None else 0
        self.width = of_letters + options.shape_width + options.column_width * len(sizes.columns)

    def forward(self, inputs: TokenInputs) -> Float[Tensor, "batch time width"]:
        found = []
        if self.letters is not None:
            found.append(self.letters(inputs.letters)[inputs.forms])
        if self.shapes is not None:
            found.append(F.embedding(inputs.shapes, self.shapes))
        found += [F.embedding(inputs.columns[..., number], table) for number, table in enumerate(self.columns)]
        return torch.cat(found, dim=-1)


def _table(values: int, width: int) -> nn.Parameter:
    return nn.Parameter(nn.init.normal_(torch.empty(values, width), std=width**-0.5))


class AfterLabel(nn.Module):
    """Scores of tags where the one before is known: W tanh(V [h; v(y_{t−1})] + c) + b, with a vector v for each tag."""

    def __init__(self, width: int, tags: int, label_width: int) -> None:
        super().__init__()
        self.labels = _table(tags + 1, label_width)  # the last is for the first word of a sentence
        self.inner = nn.Linear(width + label_width, width)
        self.outer = nn.Linear(width, tags)

    def forward(
        self, states: Float[Tensor, "*place width"], before: Int[Tensor, "*place"]
    ) -> Float[Tensor, "*place tag"]:
        joined = torch.cat([states, F.embedding(before, self.labels)], dim=-1)
        return self.outer(torch.tanh(self.inner(joined)))


class Tagger(nn.Module):
    """A network over words, and what makes tags of its states: a softmax, a chain, or a softmax after the tag before.

    `begin` stands for the tag before the first word.
    """

    def __init__(self, reader: type[Any], options: Any, sizes: Sizes) -> None:
        super().__init__()
        own: TaggerOptions = options
        self.options, self.begin = options, sizes.tags
        self.features = TokenFeatures(own, sizes)
        words = sizes.pieces or InputTokens(sizes.words, sizes.pad, sizes.unknown)
        words = replace(words, beside=self.features.width)
        self.reads_pieces = sizes.pieces is not None
        self.reader: OrderedReader = reader(options, words, pools=False)
        self.out: nn.Linear | None = None
        self.after_label: AfterLabel | None = None
        if own.previous_label:
            self.after_label = AfterLabel(self.reader.width, sizes.tags, own.label_width)
        else:
            self.out = nn.Linear(self.reader.width, sizes.tags)
        self.chain = Chain(sizes.tags) if own.output == "crf" else None

    def states(self, inputs: TokenInputs) -> Float[Tensor, "batch time width"]:
        """Return the state at each word."""
        beside = self.features(inputs) if self.features.width else None
        if self.reads_pieces:
            return self.reader.states(
                TextRows(inputs.pieces, inputs.piece_lengths, beside=beside, firsts=inputs.firsts)
            )
        return self.reader.states(TextRows(inputs.words, inputs.lengths, beside=beside))

    def scores(
        self, states: Float[Tensor, "*place width"], before: Int[Tensor, "*place"] | None = None
    ) -> Float[Tensor, "*place tag"]:
        """The scores of tags from states, and from the tags before them where those are known."""
        if self.after_label is not None:
            assert before is not None
            return self.after_label(states, before)
        assert self.out is not None
        return self.out(states)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for tagging a sentence of `length` words."""
        letters = self.features.letters
        matrices = [each.weight.numel() for head in (self.out, self.after_label) for each in _linear(head)]
        of_chain = 0 if self.chain is None else self.chain.between.numel()
        of_word = sum(matrices) + of_chain + (0 if letters is None else letters.multiplications())
        return self.reader.multiplications(length) + length * of_word


def _linear(part: nn.Module | None) -> list[nn.Linear]:
    return [] if part is None else [each for each in part.modules() if isinstance(each, nn.Linear)]
