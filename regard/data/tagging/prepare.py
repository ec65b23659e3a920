"""Prepare tagged sentences for training: memory-mapped arrays of numbers, and the names they stand for."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.corpora.source_files import InputFile, has_changed, input_of, with_checksums
from regard.data.corpora.text import file_of
from regard.data.examples import Amount
from regard.data.holding_out import split_evenly
from regard.data.prepared import (
    SPLITS,
    FinishedRecord,
    is_finished,
    open_arrays,
    prepare_once,
    save_arrays,
    save_files,
)
from regard.data.tagging.files import ReadingReport, TaggedSentence, read_sentences
from regard.data.tagging.lexicon import UNKNOWN, Lexicon, make_lexicon
from regard.data.tagging.options import HoldOut, TaggingData
from regard.data.tokenisers.tokeniser import Tokeniser, load_tokeniser, train_tokeniser

TOKENISER = "tokeniser"
_NAMES = "names.json"


class _Names(BaseModel):
    """Meanings of the numbers in the arrays; tags begin with those of the lexicon."""

    lexicon: Lexicon
    forms: list[str]
    tags: list[str]
    columns: list[list[str]]


class _Finished(FinishedRecord):
    """Record of a preparation."""

    options: TaggingData
    inputs: list[InputFile]
    report: list[str]
    files: dict[str, str]


@dataclass(frozen=True)
class TaggedSplit:
    """Sentences of a split in one array; `starts` has the start of each and the end of the last.

    Words, tags and column values are indices into the names of the prepared data.
    """

    forms: np.ndarray  # (token)
    tags: np.ndarray  # (token)
    columns: np.ndarray  # (column, token)
    starts: np.ndarray  # (sentence + 1)

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)


@dataclass(frozen=True)
class PreparedTags:
    """All sentences of a recipe, by split, and the names behind their numbers."""

    lexicon: Lexicon
    forms: list[str]
    tags: list[str]  # those of the lexicon, then those that only other splits have
    columns: list[list[str]]
    splits: Mapping[str, TaggedSplit]
    report: list[str]
    tokeniser: Tokeniser | None = None  # for families that read parts of words
    joint: str = "_"  # between a word and its columns in inputs

    @property
    def amount(self) -> Amount:
        return Amount(len(self.splits["train"].lengths), "sentences")

    def unlearnt_texts(self) -> Iterator[str]:
        """Yield the validation sentences as the model reads them: words separated by spaces, columns joined."""
        valid = self.splits["valid"]
        for start, end in pairwise(valid.starts):
            rows = [[self.forms[form] for form in valid.forms[start:end]]]
            for values, numbers in zip(self.columns, valid.columns, strict=True):
                rows.append([values[number] for number in numbers[start:end]])
            yield " ".join(map(self.joint.join, zip(*rows, strict=True)))

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return self.lexicon.files() | (self.tokeniser.files(TOKENISER) if self.tokeniser else {})


def check_files_there(options: TaggingData, folder: Path | None) -> None:
    """Refuse sentences with a missing file, unless they lie prepared in `folder`."""
    if not is_finished(folder):
        _inputs(options)


def prepare_tags(
    options: TaggingData,
    folder: Path,
    progress: Progress,
    given: Lexicon | None = None,
    tokeniser: Tokeniser | None = None,
) -> PreparedTags:
    """Return the sentences that `options` name, from `folder` if they were prepared there before.

    A lexicon `given` by the model that a run starts from replaces that of the training sentences. So does a tokeniser,
    if words are split into parts.
    """
    finished = prepare_once(
        _Finished,
        folder,
        lambda record: _is_current(record, options),
        lambda: _prepare(options, folder, progress, tokeniser),
    )
    names = _Names.model_validate_json((folder / _NAMES).read_bytes())
    splits = {split: _open_split(folder, split) for split in SPLITS if f"{split}-forms.npy" in finished.files}
    if given is not None:
        tags = [names.tags[number] for number in np.unique(splits["train"].tags)]
        if options.train == options.test:  # a model does not learn the tags it is scored on
            _refuse_other_tags(given, tags)
        else:
            _refuse_unknown_tags(given, tags)
    word_tokeniser = None if options.tokeniser is None else load_tokeniser(folder, TOKENISER, options.tokeniser.full())
    lexicon = given or names.lexicon
    return PreparedTags(
        lexicon, names.forms, names.tags, names.columns, splits, finished.report, word_tokeniser, options.joint
    )


def _refuse_unknown_tags(lexicon: Lexicon, tags: Sequence[str]) -> None:
    if unknown := [tag for tag in tags if tag not in lexicon.tag_numbers]:
        raise Fault(f"The model to start from has no tag '{unknown[0]}', which the training sentences have.")


def _refuse_other_tags(lexicon: Lexicon, tags: Sequence[str]) -> None:
    if not set(tags) & lexicon.tag_numbers.keys():
        raise Fault(f"The model has none of the tags of these sentences, such as '{tags[0]}'; check the columns.")


def _inputs(options: TaggingData) -> list[InputFile]:
    return [input_of(name) for name in dict.fromkeys([*options.train, *options.valid, *options.test])]


def _is_current(finished: _Finished, options: TaggingData) -> bool:
    """Return True if exactly these sentences were prepared; files that are gone cannot have changed."""
    present = [input_file for input_file in finished.inputs if file_of(input_file.name).is_file()]
    return finished.options == options and not any(
        has_changed(input_file, input_of(input_file.name)) for input_file in present
    )


def _prepare(options: TaggingData, folder: Path, progress: Progress, tokeniser: Tokeniser | None) -> _Finished:
    inputs = with_checksums(_inputs(options))
    report = ReadingReport()
    splits = _read_splits(options, progress, report)
    lexicon = make_lexicon(splits["train"], options)
    numbers = _Numbers(lexicon)
    arrays = {
        f"{split}-{field}.npy": array
        for split, sentences in splits.items()
        for field, array in numbers.arrays_of(sentences).items()
    }
    contents = {_NAMES: numbers.names().model_dump_json().encode()}
    if options.tokeniser is not None:
        texts = (sentence.text for sentence in splits["train"])
        word_tokeniser = tokeniser or train_tokeniser(options.tokeniser.full(), texts, progress)
        contents |= word_tokeniser.files(TOKENISER)
    lines = [*_report(splits, lexicon), *_held_out_lines(options), *report.lines()]
    files = save_files(folder, contents) | save_arrays(folder, arrays)
    return _Finished(options=options, inputs=inputs, report=lines, files=files)


def _read_splits(options: TaggingData, progress: Progress, report: ReadingReport) -> dict[str, list[TaggedSentence]]:
    """Return the sentences of each split, from its own files or held out of training."""
    splits = {
        split: list(_counted(read_sentences(names, options, report), split, progress))
        for split in SPLITS
        if (names := getattr(options, split))
    }
    for split, sentences in splits.items():
        if not sentences:
            raise Fault(f"data.{split} holds no sentence: {', '.join(getattr(options, split))} has none.")
    hold_out = options.hold_out
    shares = {split: getattr(hold_out, split) for split in ("valid", "test") if split not in splits}
    held_out = cut_off(splits["train"], hold_out, {split: share for split, share in shares.items() if share})
    for split, sentences in held_out.items():
        if not sentences:
            few = f"{', '.join(options.train)} has {len(splits['train']):,} sentences, too few for data.hold_out"
            raise Fault(f"{few}: none is left for {split}. Name files as data.valid, or change the shares.")
    return {split: members for split in SPLITS if (members := held_out.get(split) or splits.get(split))}


def _counted(sentences: Iterator[TaggedSentence], split: str, progress: Progress) -> Iterator[TaggedSentence]:
    for number, sentence in enumerate(sentences, 1):
        if number % 1000 == 0:
            progress(f"reading the {split} sentences", number, None)
        yield sentence


def cut_off(
    sentences: Sequence[TaggedSentence], hold_out: HoldOut, shares: Mapping[str, float]
) -> dict[str, list[TaggedSentence]]:
    """Return the training sentences and those held out for other splits, each with its share.

    By tags, each split has its share of the sentences with the same rarest tag. By place, the last sentences are held
    out, with the test at the very end, as in runs older than this option. By hash, each line is mapped to a number in
    [0, 1), and the lowest are held out, those of the test first.
    """
    split_of: list[str] = []
    if hold_out.by == "tags":
        split_of = split_evenly(_rarest_tags(sentences), [sentence.text for sentence in sentences], shares)
    elif hold_out.by in ("place", None):
        counts = {split: int(share * len(sentences)) for split, share in shares.items()}
        split_of = ["train"] * (len(sentences) - sum(counts.values()))
        for split in ("valid", "test"):
            split_of += [split] * counts.get(split, 0)
    else:
        test = shares.get("test", 0.0)
        valid = test + shares.get("valid", 0.0)
        for sentence in sentences:
            number = line_number_in_unit(sentence.text)
            split_of.append("test" if number < test else "valid" if number < valid else "train")
    parts: dict[str, list[TaggedSentence]] = {split: [] for split in ("train", *shares)}
    for split, sentence in zip(split_of, sentences, strict=True):
        parts[split].append(sentence)
    return parts


def _rarest_tags(sentences: Sequence[TaggedSentence]) -> list[str]:
    """Return for each sentence the tag that the fewest sentences have; the first by name if several do."""
    counts = Counter(tag for sentence in sentences for tag in set(sentence.tags))
    return [min(set(sentence.tags), key=lambda tag: (counts[tag], tag)) for sentence in sentences]


def line_number_in_unit(line: str) -> float:
    """Return a number in [0, 1) that depends only on the line, spread evenly over lines."""
    return int.from_bytes(blake2b(line.encode(), digest_size=8).digest()) / 2**64


class _Numbers:
    """Numbers the words, tags and column values of sentences as they come; tags follow the lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.forms: dict[str, int] = {}
        self.tags = dict(lexicon.tag_numbers)
        self.columns: list[dict[str, int]] = [{} for _ in lexicon.columns]

    def arrays_of(self, sentences: Sequence[TaggedSentence]) -> dict[str, np.ndarray]:
        forms = [self.forms.setdefault(word, len(self.forms)) for sentence in sentences for word in sentence.words]
        tags = [self.tags.setdefault(tag, len(self.tags)) for sentence in sentences for tag in sentence.tags]
        columns = [
            [numbers.setdefault(value, len(numbers)) for sentence in sentences for value in sentence.columns[number]]
            for number, numbers in enumerate(self.columns)
        ]
        return {
            "forms": np.array(forms, np.int32),
            "tags": np.array(tags, np.int32),
            "columns": np.array(columns, np.int32).reshape(len(self.columns), len(forms)),
            "starts": np.cumsum([0, *(len(sentence.words) for sentence in sentences)]),
        }

    def names(self) -> _Names:
        columns = [list(values) for values in self.columns]
        return _Names(lexicon=self.lexicon, forms=list(self.forms), tags=list(self.tags), columns=columns)


def _report(splits: Mapping[str, Sequence[TaggedSentence]], lexicon: Lexicon) -> list[str]:
    """Report the size of each split, and what is new in those besides training."""
    lines = []
    for split, sentences in splits.items():
        words = sum(len(sentence.words) for sentence in sentences)
        line = f"{split}: {len(sentences):,} sentences, {words:,} words"
        if split == "train":
            lines.append(f"{line}, {len(lexicon.words):,} of them different, {len(lexicon.tags):,} tags")
            continue
        unknown = sum(lexicon.word_number(word) == UNKNOWN for sentence in sentences for word in sentence.words)
        unseen = [tag for sentence in sentences for tag in sentence.tags if tag not in lexicon.tag_numbers]
        line += f", {unknown:,} of them unknown ({unknown / words:.2%})"
        if unseen:
            names = ", ".join(list(dict.fromkeys(unseen))[:5])
            line += f"; {len(unseen):,} have tags that no training sentence has ({names}) and count as wrong"
        lines.append(line)
    return lines


def _held_out_lines(options: TaggingData) -> list[str]:
    """Return a line for each split that was held out of the training files, saying how."""
    manners = {"tags": "of the sentences with each tag", "place": "the last ones", "hash": "by a hash of the line"}
    shares = {split: getattr(options.hold_out, split) for split in ("valid", "test") if not getattr(options, split)}
    how = manners[options.hold_out.by or "place"]
    return [f"{split} is held out of data.train: {share:.1%}, {how}" for split, share in shares.items() if share]


def _open_split(folder: Path, split: str) -> TaggedSplit:
    return TaggedSplit(*open_arrays(folder, *(f"{split}-{field}" for field in ("forms", "tags", "columns", "starts"))))
