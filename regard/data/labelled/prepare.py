"""Prepare labelled texts for training: arrays of tokens and class numbers, and the files stored with a model."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.arrays import arrays_in, arrays_to_bytes
from regard.data.corpora.text import file_of
from regard.data.examples import Amount
from regard.data.generated.corpora import generated_opinions
from regard.data.labelled.options import LabelledData
from regard.data.labelled.reading import Example, first_digit, read_examples
from regard.data.labelled.ready import ReadyVectors, extend_vocabulary, ready_vectors
from regard.data.labelled.splitting import hold_out, name_some, remarks_on_validation
from regard.data.prepared import (
    SPLITS,
    FinishedRecord,
    is_finished,
    open_kept,
    prepare_once,
    refuse_missing,
    save_files,
)
from regard.data.tables.headers import is_heading
from regard.data.tokenisers.tokeniser import CaselessTokeniser, Tokeniser, tokenisers_in, train_tokeniser
from regard.data.vectors.files import read_vectors
from regard.data.vectors.word_vectors import WordVectors

LABELS_FILE = "labels.json"
MOST_CLASSES = 10_000
_FORMAT = 1
_TOKENISER = "tokeniser"
_VECTORS = "vectors.npz"
_FEWEST_ROWS = 10  # needed to call a label that occurs once odd


class TextLabels(BaseModel):
    """Facts stored with a model besides its tokeniser: its classes, and the width of pretrained vectors."""

    classes: list[str] = Field(min_length=2, max_length=MOST_CLASSES)
    vector_width: int | None = Field(None, ge=1, le=2**16)


class _Finished(FinishedRecord):
    """Record of a preparation."""

    options: LabelledData
    report: list[str]
    files: dict[str, str]
    format: int = 0  # format of the arrays; 1 has the places of aspects


@dataclass(frozen=True)
class LabelledTexts:
    """Tokens of texts in one array, the start of each text and the end of the last, and class numbers.

    Aspects, or second texts, are stored in the same way. `aspect_places` is the token of its text before which each
    aspect begins. For texts without aspects, all of these are empty.
    """

    tokens: np.ndarray
    starts: np.ndarray
    labels: np.ndarray
    aspects: np.ndarray
    aspect_starts: np.ndarray
    aspect_places: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def text(self, row: int) -> np.ndarray:
        return self.tokens[self.starts[row] : self.starts[row + 1]]

    def aspect(self, row: int) -> np.ndarray:
        return self.aspects[self.aspect_starts[row] : self.aspect_starts[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    @property
    def aspect_lengths(self) -> np.ndarray:
        return np.diff(self.aspect_starts)


@dataclass(frozen=True)
class PreparedExamples:
    """All labelled texts of a recipe by split; `extra` holds further files for a model folder."""

    tokeniser: Tokeniser
    labels: TextLabels
    splits: Mapping[str, LabelledTexts]
    report: list[str]
    vectors: ReadyVectors | None = None
    extra: dict[str, bytes] = field(default_factory=dict)

    @property
    def amount(self) -> Amount:
        return Amount(len(self.splits["train"]), "texts")

    def unlearnt_texts(self) -> Iterator[str]:
        """Yield the validation texts as the tokeniser spells them, with the aspect in question in brackets.

        The first text of a pair is left out, since it is no example by itself.
        """
        texts = self.splits["valid"]
        for row in range(len(texts)):
            if self.tokeniser.unknown in texts.text(row):
                continue
            text, aspect = (self.tokeniser.decode(tokens.tolist()) for tokens in (texts.text(row), texts.aspect(row)))
            if aspect in text:
                yield text.replace(aspect, f"[{aspect}]", 1) if aspect else text

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {**self.tokeniser.files(_TOKENISER), LABELS_FILE: self.labels.model_dump_json().encode(), **self.extra}


def read_vector_file(path: Path, progress: Progress, remark: Remark) -> WordVectors:
    """Read the vectors in a word2vec, GloVe or fastText file."""
    return read_vectors(path, progress=progress, remark=remark)


@dataclass(frozen=True)
class OtherModels:
    """Parts that a new model takes from others: pretrained vectors, by the path of data.vectors, and words."""

    vectors: Callable[[Path, Progress, Remark], WordVectors] = read_vector_file
    words: Callable[[], Iterable[str]] = tuple


def open_text_labels(files: Mapping[str, bytes]) -> TextLabels:
    """Read the class names from the untrusted files of a model folder."""
    return open_kept(TextLabels, files, LABELS_FILE)


def open_tokeniser(files: Mapping[str, bytes], options: LabelledData) -> Tokeniser:
    """Read the tokeniser from the files of a model folder."""
    tokeniser = tokenisers_in(files, options.tokeniser.full())[0]
    return CaselessTokeniser(tokeniser) if options.lower_case else tokeniser


def check_texts_there(options: LabelledData, folder: Path | None) -> None:
    """Refuse texts with a missing file, unless they lie prepared in `folder`."""
    if is_finished(folder):
        return
    names = (*options.train, *options.valid, *options.test)
    refuse_missing((name for name in names if not generated_opinions(name)), folder)
    if options.vectors is not None and not file_of(options.vectors).exists():
        raise Fault(f"There are no vectors at {options.vectors}.")


def prepare_labelled(
    options: LabelledData,
    folder: Path,
    progress: Progress,
    start: Mapping[str, bytes] | None,
    others: OtherModels | None = None,
) -> PreparedExamples:
    """Return the texts that `options` name, from `folder` if they were prepared there before.

    `start` holds the files of a model whose tokeniser, and classes if it has any, are used. Without it, `others`
    provides the words and vectors of other models.
    """
    finished = prepare_once(
        _Finished,
        folder,
        lambda record: record.options == options and record.format == _FORMAT,
        lambda: _prepare(options, folder, progress, start, others or OtherModels()),
    )
    files = {name: (folder / name).read_bytes() for name in finished.files}
    splits = {name: LabelledTexts(**arrays_in(files[f"{name}.npz"])) for name in SPLITS if f"{name}.npz" in files}
    vectors = ReadyVectors(**arrays_in(files[_VECTORS])) if _VECTORS in files else None
    return PreparedExamples(open_tokeniser(files, options), open_text_labels(files), splits, finished.report, vectors)


def _prepare(
    options: LabelledData,
    folder: Path,
    progress: Progress,
    start: Mapping[str, bytes] | None,
    others: OtherModels,
) -> _Finished:
    examples, report, files = read_splits(options, progress), list[str](), dict[str, bytes]()
    if start:
        tokeniser = open_tokeniser(start, options)
        labels = open_text_labels(start) if LABELS_FILE in start else _labels_of(options, examples["train"])
    else:
        tokeniser, labels = _train(options, examples["train"], progress), _labels_of(options, examples["train"])
        if options.vectors is not None:
            ready = others.vectors(file_of(options.vectors), progress, report.append)
            tokeniser = extend_vocabulary(tokeniser, ready.words, options.lower_case)
            labels = labels.model_copy(update={"vector_width": ready.width})
        if more_words := list(others.words()):
            tokeniser = extend_vocabulary(tokeniser, more_words, options.lower_case)
        if options.vectors is not None:
            rows = ready_vectors(tokeniser, ready)
            files[_VECTORS] = arrays_to_bytes(rows._asdict())
            report.append(_coverage(rows, tokeniser, examples["train"], options.lower_case))
        tokeniser = CaselessTokeniser(tokeniser) if options.lower_case else tokeniser
    files |= {**tokeniser.files(_TOKENISER), LABELS_FILE: labels.model_dump_json().encode()}
    for split, split_examples in examples.items():
        encoded = _cut(options, split_examples, labels, tokeniser)
        files[f"{split}.npz"] = arrays_to_bytes(vars(encoded))
        unknown = np.count_nonzero(encoded.tokens == tokeniser.unknown) / max(len(encoded.tokens), 1)
        report.append(
            f"{split}: {len(split_examples):,} texts, {len(encoded.tokens):,} tokens, {unknown:.1%} of them unknown"
        )
    report.append(f"{len(labels.classes)} classes: {name_some(labels.classes)}")
    report += remarks_on_validation(options, examples, labels.classes)
    return _Finished(options=options, report=report, files=save_files(folder, files), format=_FORMAT)


def _coverage(rows: ReadyVectors, tokeniser: Tokeniser, examples: Sequence[Example], lower_case: bool) -> str:
    """Return how many training words have a pretrained vector, and at what share of places they occur."""
    texts = [example.text.lower() if lower_case else example.text for example in examples]
    tokens = [token for text_tokens in tokeniser.encode_all(texts) for token in text_tokens]
    words, places = rows.is_known[list(set(tokens))].mean(), rows.is_known[tokens].mean()
    summary = f"pretrained vectors: {rows.is_known.sum():,} words"
    return f"{summary}, {words:.1%} of the training words have one, at {places:.1%} of the places"


def read_splits(options: LabelledData, progress: Progress) -> dict[str, list[Example]]:
    """Return the examples of each split; hold out some for validation if no file has them."""
    splits: dict[str, list[Example]] = {}
    names = {split: getattr(options, split) for split in SPLITS if getattr(options, split)}
    for number, (split, files) in enumerate(names.items()):
        progress("reading texts", number, len(names))
        splits[split] = []
        for name in files:
            examples = list(read_examples(options, name))
            _refuse_header(options, examples)
            splits[split] += examples
        if not splits[split]:
            what = "no row with a text" if options.format == "table" else "nothing but blank lines"
            raise Fault(f"data.{split} holds no text: {', '.join(files)} has {what}.")
    progress("reading texts", len(names), len(names))
    if options.fold is not None:
        return _folds(options.fold, splits["train"])
    if "valid" not in splits:
        splits |= hold_out(options, splits["train"])
    return {split: splits[split] for split in SPLITS if split in splits}


def _refuse_header(options: LabelledData, examples: Sequence[Example]) -> None:
    """Refuse a table whose first line may name its columns, because no other line has its label.

    It is refused if the label is a usual column name, or if every other label occurs more than once.
    """
    if options.format != "table" or options.header is False or len(examples) < 2:
        return
    first = examples[0]
    if not first.place.endswith(", line 1"):
        return
    counts = Counter(example.label for example in examples)
    others = [count for label, count in counts.items() if label != first.label]
    is_odd = len(examples) >= _FEWEST_ROWS and all(count > 1 for count in others)
    if counts[first.label] == 1 and (is_heading(first.label) or is_odd):
        raise Fault(
            f"{first.place} may be a header, since no other line has the label '{first.label[:40]}'; confirm "
            "with --header (data.header = true), or give --no-header (data.header = false) if it is an "
            "example."
        )


def _folds(fold: int, examples: Sequence[Example]) -> dict[str, list[Example]]:
    digits = [first_digit(example) for example in examples]
    others = {"test": fold, "valid": (fold + 1) % 10}
    parts = {split: [example for example, first in zip(examples, digits, strict=True) if first == digit]
             for split, digit in others.items()}  # fmt: skip
    for split, members in parts.items():
        if not members:
            raise Fault(f"No text has a number that begins with {others[split]}, so fold {fold} has no {split} part.")
    learnt = [example for example, digit in zip(examples, digits, strict=True) if digit not in others.values()]
    if not learnt:
        raise Fault(f"Every text has a number of fold {fold} or the next, so none is left for training.")
    return {"train": learnt, **parts}


def _train(options: LabelledData, examples: Sequence[Example], progress: Progress) -> Tokeniser:
    texts = (example.text.lower() if options.lower_case else example.text for example in examples)
    return train_tokeniser(options.tokeniser.full(), texts, progress)


def _labels_of(options: LabelledData, examples: Sequence[Example]) -> TextLabels:
    classes = sorted({example.label for example in examples})
    if not 2 <= len(classes) <= MOST_CLASSES:
        one = f"one class, '{classes[0]}'" if len(classes) == 1 else f"{len(classes):,} classes"
        raise Fault(f"{options.train[0]} has {one}; a classifier needs 2 to {MOST_CLASSES:,}.")
    return TextLabels(classes=classes)


def _cut(options: LabelledData, examples: Sequence[Example], labels: TextLabels, tokeniser: Tokeniser) -> LabelledTexts:
    numbers = {name: number for number, name in enumerate(labels.classes)}
    for example in examples:
        if example.label not in numbers:
            raise Fault(f"{example.place} has the label '{example.label[:40]}', which no training text has.")
    tokens = tokeniser.encode_all([example.text for example in examples])
    aspects = tokeniser.encode_all([example.aspect for example in examples])
    for example, text_tokens, aspect in zip(examples, tokens, aspects, strict=True):
        check_tokens(options, text_tokens, example.place)
        if (options.asks_about_aspects or options.has_pairs) and not aspect:
            raise Fault(f"{example.place}: the {'second text' if options.has_pairs else 'aspect'} has no word.")
    before = tokeniser.encode_all([example.before_aspect for example in examples])
    return LabelledTexts(
        *_laid_out(tokens),
        np.array([numbers[example.label] for example in examples]),
        *_laid_out(aspects),
        np.array([len(beginning) for beginning in before]),
    )


def check_tokens(options: LabelledData, tokens: Sequence[int], place: str) -> None:
    """Refuse a text without a word, or with more than data.longest tokens."""
    if not tokens:
        raise Fault(f"{place}: the text has no word.")
    if len(tokens) > options.longest:
        raise Fault(f"{place}: the text has {len(tokens):,} tokens, more than data.longest ({options.longest:,}).")


def _laid_out(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in one array, and the start of each and the end of the last."""
    starts = np.cumsum([0, *map(len, rows)])
    return np.fromiter((token for row in rows for token in row), np.int32, count=int(starts[-1])), starts
