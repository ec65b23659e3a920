"""A tagger: a network from words with letters, capitalisation and columns to tags."""

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
    columns: tuple[int, ...]  # the number of values of each column
    tags: int
    pad: int
    unknown: int
    pieces: InputTokens | None = None  # the vocabulary of word pieces, if those are read


class TokenInputs(NamedTuple):
    """Inputs of some sentences; `forms` holds the row of `letters` that spells each word.

    Rows are padded beyond the length of a sentence. If word pieces are read, `pieces` holds those of all words of a
    sentence, and `firsts` the place of each word's first piece; otherwise both are empty.
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
        features = []
        if self.letters is not None:
            features.append(self.letters(inputs.letters)[inputs.forms])
        if self.shapes is not None:
            features.append(F.embedding(inputs.shapes, self.shapes))
        features += [F.embedding(inputs.columns[..., number], table) for number, table in enumerate(self.columns)]
        return torch.cat(features, dim=-1)


def _table(values: int, width: int) -> nn.Parameter:
    return nn.Parameter(nn.init.normal_(torch.empty(values, width), std=width**-0.5))


class AfterLabel(nn.Module):
    """Scores of tags given the previous one: W tanh(V [h; v(y_{t−1})] + c) + b, with a vector v for each tag."""

    def __init__(self, width: int, tags: int, label_width: int) -> None:
        super().__init__()
        self.labels = _table(tags + 1, label_width)  # the last row is for the first word of a sentence
        self.inner = nn.Linear(width + label_width, width)
        self.outer = nn.Linear(width, tags)

    def forward(
        self, states: Float[Tensor, "*place width"], before: Int[Tensor, "*place"]
    ) -> Float[Tensor, "*place tag"]:
        joined = torch.cat([states, F.embedding(before, self.labels)], dim=-1)
        return self.outer(torch.tanh(self.inner(joined)))


class Tagger(nn.Module):
    """A network over words, and an output layer for tags: a softmax, a chain, or a softmax given the previous tag.

    `begin` represents the tag before the first word.
    """

    def __init__(self, reader: type[Any], options: Any, sizes: Sizes) -> None:
        super().__init__()
        tagger_options: TaggerOptions = options
        self.options, self.begin = options, sizes.tags
        self.features = TokenFeatures(tagger_options, sizes)
        words = sizes.pieces or InputTokens(sizes.words, sizes.pad, sizes.unknown)
        words = replace(words, beside=self.features.width)
        self.reads_pieces = sizes.pieces is not None
        self.reader: OrderedReader = reader(options, words, pools=False)
        self.out: nn.Linear | None = None
        self.after_label: AfterLabel | None = None
        if tagger_options.previous_label:
            self.after_label = AfterLabel(self.reader.width, sizes.tags, tagger_options.label_width)
        else:
            self.out = nn.Linear(self.reader.width, sizes.tags)
        self.chain = Chain(sizes.tags) if tagger_options.output == "crf" else None

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
        """Return the scores of tags from states and, if used, the previous tags."""
        if self.after_label is not None:
            assert before is not None
            return self.after_label(states, before)
        assert self.out is not None
        return self.out(states)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for tagging a sentence of `length` words."""
        letters = self.features.letters
        matrices = [layer.weight.numel() for head in (self.out, self.after_label) for layer in _linear(head)]
        of_chain = 0 if self.chain is None else self.chain.between.numel()
        of_word = sum(matrices) + of_chain + (0 if letters is None else letters.multiplications())
        return self.reader.multiplications(length) + length * of_word


def _linear(part: nn.Module | None) -> list[nn.Linear]:
    return [] if part is None else [layer for layer in part.modules() if isinstance(layer, nn.Linear)]
