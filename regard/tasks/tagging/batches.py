"""Batches of tagged sentences; their order depends only on seed and epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.attention.masks import real_places
from regard.data.corpora.batching import BatchPlan
from regard.data.tagging.files import TaggedSentence
from regard.data.tagging.lexicon import NO_PIECE, PAD, UNKNOWN, FormTable, Lexicon
from regard.data.tagging.prepare import PreparedTags
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.tagging.tagger import TokenInputs

MEASURED_WORDS = 8192  # of a batch for measuring only
NO_TAG = -1  # for padding, and where the tag is unknown or no training sentence has it


@dataclass(frozen=True)
class TagBatch:
    """Some sentences: their inputs, and the numbers of their tags.

    The sentences themselves are kept for people and for spans, whose types may be new to the model.
    """

    inputs: TokenInputs
    tags: Int[Tensor, "batch time"]
    sentences: tuple[TaggedSentence, ...]

    @property
    def rows(self) -> int:
        return self.tags.shape[0]

    @property
    def real(self) -> Bool[Tensor, "batch time"]:
        """True where a place is a word."""
        return real_places(self.inputs.lengths, self.tags.shape[1])

    @property
    def is_known(self) -> Bool[Tensor, "batch time"]:
        """True where the lexicon has the word."""
        return self.inputs.words != UNKNOWN

    def to(self, device: torch.device) -> "TagBatch":
        if device.type == "cpu":
            return self
        *inputs, tags = (tensor.pin_memory().to(device, non_blocking=True) for tensor in (*self.inputs, self.tags))
        return TagBatch(TokenInputs(*inputs), tags, self.sentences)

    def split(self, parts: int) -> list["TagBatch"]:
        """Split the sentences into smaller batches; each keeps the letters of all of them."""
        by_row = self.inputs._asdict()
        letters = by_row.pop("letters")
        pieces, first = [], 0
        for *row_inputs, tags in zip(*(tensor.chunk(parts) for tensor in (*by_row.values(), self.tags)), strict=True):
            inputs = TokenInputs(**dict(zip(by_row, row_inputs, strict=True)), letters=letters)
            pieces.append(TagBatch(inputs, tags, self.sentences[first : first + len(tags)]))
            first += len(tags)
        return pieces


class TagSource:
    """The sentences of a split, from which batches are made."""

    def __init__(self, prepared: PreparedTags, split: str, table: FormTable) -> None:
        self.prepared, self.own, self.table = prepared, prepared.splits[split], table
        lexicon = prepared.lexicon
        self.tags = np.array([lexicon.tag_numbers.get(tag, NO_TAG) for tag in prepared.tags])
        columns = enumerate(prepared.columns)
        self.columns = [np.array(lexicon.column_numbers(column, values)) for column, values in columns]

    @property
    def longest(self) -> int:
        """Most words in a sentence."""
        return int(self.own.lengths.max())

    @property
    def most_pieces(self) -> int:
        """Most word pieces in a sentence; 0 if words are read whole."""
        counts = (self.table.pieces != NO_PIECE).sum(axis=1)[self.own.forms]
        return int(np.diff(np.concatenate([[0], np.cumsum(counts)])[self.own.starts]).max())

    def batches(self, budget: int, seed: int, epoch: int, start: int) -> Iterator[TagBatch]:
        """Return the batches of an epoch from number `start` on, on the host."""
        lengths = self.own.lengths
        plan = BatchPlan(lengths, lengths, budget, [(0, len(lengths), float(len(lengths)))])
        return map(self.batch, plan.batches(seed, epoch, start))

    def batch(self, rows: np.ndarray) -> TagBatch:
        """Return these sentences as one batch."""
        starts, ends = self.own.starts[rows], self.own.starts[rows + 1]
        flat = np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)])
        columns = [numbers[values] for numbers, values in zip(self.columns, self.own.columns[:, flat], strict=True)]
        return make_batch(
            self.table,
            self.own.forms[flat],
            columns,
            self.tags[self.own.tags[flat]],
            [self.sentence(row) for row in rows.tolist()],
        )

    def sentence(self, row: int) -> TaggedSentence:
        """Return a sentence as it was in its file."""
        names, split = self.prepared, self.own
        places = slice(split.starts[row], split.starts[row + 1])
        return TaggedSentence(
            [names.forms[form] for form in split.forms[places]],
            [names.tags[tag] for tag in split.tags[places]],
            [
                [column[value] for value in values]
                for column, values in zip(names.columns, split.columns[:, places], strict=True)
            ],
        )


def make_batch(
    table: FormTable,
    forms: Int[np.ndarray, " word"],
    columns: Sequence[Int[np.ndarray, " word"]],
    tags: Int[np.ndarray, " word"],
    sentences: Sequence[TaggedSentence],
) -> TagBatch:
    """Return the words of consecutive sentences as the rows of a batch.

    A sentence without words is a row of padding that counts as one, because networks cannot read empty input.
    """
    distinct, of_word = np.unique(forms, return_inverse=True)
    lengths = torch.tensor([len(sentence.words) for sentence in sentences])
    time = max(1, int(lengths.max()))
    inside = real_places(lengths, time)

    def padded(values: np.ndarray, fill: int) -> Tensor:
        rows = torch.full(inside.shape, fill)
        rows[inside] = torch.from_numpy(values.astype(np.int64))
        return rows

    longest = int(table.lengths[distinct].max(initial=1))
    no_columns = torch.zeros(*inside.shape, 0, dtype=torch.long)
    inputs = TokenInputs(
        words=padded(table.words[forms], PAD),
        shapes=padded(table.shapes[forms], PAD),
        columns=torch.cat([no_columns, *(padded(numbers, PAD)[..., None] for numbers in columns)], dim=-1),
        forms=padded(of_word, 0),
        letters=torch.from_numpy(table.letters[distinct if len(distinct) else [0], :longest]),
        lengths=lengths.clamp(min=1),
        **_cut_pieces(table, forms, inside),
    )
    return TagBatch(inputs, padded(tags, NO_TAG), tuple(sentences))


def _cut_pieces(
    table: FormTable, forms: Int[np.ndarray, " word"], inside: Bool[Tensor, "batch time"]
) -> dict[str, Tensor]:
    """Return the word pieces of each sentence, how many there are, and where each word begins among them."""
    pieces = table.pieces[forms]
    is_piece = pieces != NO_PIECE
    counts = torch.zeros(inside.shape, dtype=torch.long)
    counts[inside] = torch.from_numpy(is_piece.sum(axis=1))
    lengths = counts.sum(dim=1)
    rows = torch.full((len(lengths), max(1, int(lengths.max())) if pieces.shape[1] else 0), table.pad)
    rows[real_places(lengths, rows.shape[1])] = torch.from_numpy(pieces[is_piece])
    firsts = (counts.cumsum(dim=1) - counts).masked_fill(~inside, 0)
    return {"pieces": rows, "piece_lengths": lengths, "firsts": firsts}


def batch_of_inputs(
    sentences: Sequence[TaggedSentence], lexicon: Lexicon, tokeniser: Tokeniser | None = None
) -> TagBatch:
    """Return sentences that people want tags for as one batch."""
    words = [word for sentence in sentences for word in sentence.words]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    columns = [
        np.array(
            [number for sentence in sentences for number in lexicon.column_numbers(column, sentence.columns[column])]
        )
        for column in range(len(lexicon.columns))
    ]
    forms = np.array([numbers[word] for word in words], np.int64)
    table = FormTable(list(numbers) or [""], lexicon, tokeniser)
    return make_batch(table, forms, columns, np.full(len(words), NO_TAG), sentences)
