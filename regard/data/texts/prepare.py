"""Prepare text for language models: phrases and vocabulary first, then one file of tokens for each split.

Each step leaves files that are complete or absent, so an interrupted preparation continues where it stopped; the result
is the same to the byte.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from pathlib import Path

import numpy as np
from pydantic import BaseModel, SerializeAsAny

from regard.base.checksums import (
    are_whole,
    check_files,
    damage,
    file_checksum,
    read_record,
    write_record,
    write_vouched,
)
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import checksum, whole_file
from regard.base.progress import Progress, Remark, silent
from regard.base.recipe import differences
from regard.data.corpora.hashes import hash_folded
from regard.data.corpora.prepared import check_free, lock_folder, remove_leftovers
from regard.data.corpora.source_files import InputFile, changed_files, input_of, refuse_other_sources, with_checksums
from regard.data.corpora.text import file_of
from regard.data.examples import Amount
from regard.data.generated.corpora import generated_lines
from regard.data.prepared import make_folder
from regard.data.texts.options import SPLITS, LanguageData, LanguageModelData, SpelledData, WordsData
from regard.data.texts.phrases import Pair, join_phrases, learn_phrases
from regard.data.texts.recipe_lines import Line, lines_of_split, name_of
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser, encode_in_a_row, load_tokeniser, train_tokeniser

_FORMAT = 1
_AT_ONCE = 10_000  # lines tokenised at once
_SAMPLED = 1_000_000  # lines to learn subwords from
_FEWEST_WORDS = 2
_NAME = "tokeniser"
Phrases = Sequence[set[Pair]]


class TextPurpose(BaseModel):
    """Sources of a prepared text: files, options and their checksums."""

    format: int
    options: SerializeAsAny[LanguageData | LanguageModelData | SpelledData | WordsData]
    inputs: list[InputFile]
    given: str = ""  # checksum of a given tokeniser; empty if it is trained here


class PhraseRecord(BaseModel):
    """Pairs of words that each pass joins."""

    passes: list[list[Pair]]


class SplitRecord(BaseModel):
    """Counts for the lines of a split."""

    lines: int = 0
    blank: int = 0  # skipped
    tokens: int = 0  # including an end token for each line
    unknown: int = 0
    left_out: int = 0  # lines used to evaluate a translator
    checksum: str = ""

    def report(self, name: str) -> str:
        """Report what was read, and what was skipped."""
        words = self.tokens - self.lines
        summary = f"{name}: {quantity(self.lines, 'line')}, {words:,} tokens"
        if self.unknown:
            summary += f", {self.unknown:,} of them unknown ({self.unknown / words:.2%})"
        if self.left_out:
            summary += f"; left out because a translator is evaluated on them: {quantity(self.left_out, 'line')}"
        return summary + (f"; blank and skipped: {quantity(self.blank, 'line')}" if self.blank else "")


@dataclass(frozen=True)
class PreparedText:
    """Text as tokens, with an end token after every line; `splits` has those that the recipe names."""

    folder: Path
    tokeniser: Tokeniser
    splits: dict[str, np.ndarray]
    report: list[str]

    @property
    def amount(self) -> Amount:
        return Amount(len(self.splits["train"]), "tokens")

    def unlearnt_texts(self) -> Iterator[str]:
        """Yield the lines of the validation text, as the tokeniser spells them."""
        tokens = self.splits.get("valid", self.splits["train"][:0])
        ends = np.flatnonzero(tokens == self.tokeniser.end)
        for start, end in pairwise([0, *(ends + 1)]):
            if self.tokeniser.unknown not in tokens[start:end]:
                yield self.tokeniser.decode(tokens[start : end - 1].tolist())

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return self.tokeniser.files(_NAME)


class _Layout:
    """Paths in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.purpose = folder / "purpose.json"
        self.phrases = folder / "phrases.json"
        self.tokeniser = folder / "tokeniser"
        self.tokeniser_done = folder / "tokeniser" / "done.json"  # holds its checksums

    def tokens(self, split: str) -> Path:
        return self.folder / f"{split}.bin"

    def record(self, split: str) -> Path:
        """Return the path of a split's record, which is written after its tokens and holds their checksum."""
        return self.folder / f"{split}.json"

    def clear(self) -> None:
        """Remove everything that a preparation has made."""
        self.purpose.unlink(missing_ok=True)
        self.phrases.unlink(missing_ok=True)
        shutil.rmtree(self.tokeniser, ignore_errors=True)
        for split in SPLITS:
            self.record(split).unlink(missing_ok=True)
            self.tokens(split).unlink(missing_ok=True)


def prepare_text(
    options: LanguageData,
    folder: Path,
    progress: Progress = silent,
    remark: Remark = lambda text: None,
    tokeniser: Tokeniser | None = None,
    find_left_out: Callable[[], np.ndarray] = lambda: np.zeros(0, np.uint64),
) -> PreparedText:
    """Tokenise the text of `options` in `folder`, or open it at once if that was done before.

    A given `tokeniser` is used; otherwise one is trained on the training text. A folder with another preparation is
    refused. Once it is finished, the original text is no longer needed. `find_left_out` returns the hashes of sentences
    to leave out of the training text; it is called only if that is not yet tokenised.
    """
    layout, splits = _Layout(folder), options.parts
    purpose = _purpose_of(options, tokeniser, all_there=not _is_finished(options, layout))
    check_free(folder)
    make_folder(folder)
    with lock_folder(folder, progress):
        _claim(layout, purpose, remark, _is_of(layout, tokeniser))
        phrases = _phrases(options, layout)
        used_tokeniser = _tokeniser(options, layout, phrases, progress, tokeniser)
        for split in splits:
            if not layout.record(split).is_file():
                left_out = find_left_out() if split == "train" else np.zeros(0, np.uint64)
                _cut(options, split, layout, phrases, used_tokeniser, left_out, progress)
        remove_leftovers(folder)
    records = {split: read_record(SplitRecord, layout.record(split)) for split in splits}
    check_files(folder, {layout.tokens(split).name: record.checksum for split, record in records.items()})
    return PreparedText(
        folder,
        used_tokeniser,
        {split: _open_tokens(layout, split, record, used_tokeniser) for split, record in records.items()},
        [record.report(split) for split, record in records.items()],
    )


def tokeniser_in(options: LanguageData, folder: Path) -> Tokeniser | None:
    """Return the tokeniser with which text was prepared in `folder`, if that was begun."""
    layout = _Layout(folder)
    return _load_tokeniser(options, layout) if are_whole(layout.tokeniser_done) else None


def check_files_of(options: LanguageData, folder: Path | None) -> None:
    """Refuse missing text, unless it lies prepared in `folder`."""
    if folder is None or not _is_finished(options, _Layout(folder)):
        _purpose_of(options, None, all_there=True)


def check_validation_text(options: LanguageData) -> None:
    """Refuse text of which nothing is for validation, by which the best weights are chosen."""
    if "valid" not in options.parts:
        raise Fault(
            "The recipe has no validation text; name files as data.valid, "
            "or hold lines of data.train out with --set data.hold_out=0.05."
        )


def _is_finished(options: LanguageData, layout: _Layout) -> bool:
    return all(layout.record(split).is_file() for split in options.parts)


def _purpose_of(options: LanguageData, tokeniser: Tokeniser | None, all_there: bool) -> TextPurpose:
    names = dict.fromkeys(map(name_of, [*options.train, *options.valid, *options.test]))
    names = dict.fromkeys(name for name in names if generated_lines(name) is None)
    inputs = [input_of(name) for name in names if all_there or file_of(name).is_file()]
    # For a tokeniser from another model, its checksum counts, not its folder.
    tokens = options.tokeniser.model_copy(update={"from_": ""} if options.tokeniser.is_taken_over else {})
    relevant_options = options.model_copy(update={"prepared": None, "tokeniser": tokens})
    return TextPurpose(
        format=_FORMAT, options=relevant_options, inputs=inputs, given=_checksum(tokeniser) if tokeniser else ""
    )


def _checksum(tokeniser: Tokeniser) -> str:
    return checksum(b"".join(tokeniser.files(_NAME).values()))


def _is_of(layout: _Layout, tokeniser: Tokeniser | None) -> bool:
    """Return True if exactly this tokeniser was made in the folder."""
    if tokeniser is None or not are_whole(layout.tokeniser_done):
        return False
    return all((layout.tokeniser / name).read_bytes() == content for name, content in tokeniser.files(_NAME).items())


def _claim(layout: _Layout, purpose: TextPurpose, remark: Remark, is_own: bool) -> None:
    """Reserve the folder for this purpose; refuse a finished preparation of something else.

    An unfinished preparation of something else is removed. A model trained on this text brings the tokeniser that was
    made from it; then `is_own` is True.
    """
    stored = read_record(TextPurpose, layout.purpose) if layout.purpose.is_file() else None
    others = _others(stored, purpose, is_own) if stored else []
    files = changed_files(stored.inputs, purpose.inputs) if stored else []
    if stored is None or ((others or files) and not _is_finished(stored.options, layout)):
        layout.clear()
        write_record(layout.purpose, purpose.model_copy(update={"inputs": with_checksums(purpose.inputs)}))
        return
    refuse_other_sources(layout.folder, "text", others, files)
    for name in {input_file.name for input_file in stored.inputs} - {input_file.name for input_file in purpose.inputs}:
        remark(f"{name} no longer exists; continuing with what was prepared from it.")


def _others(stored: TextPurpose, purpose: TextPurpose, is_own: bool) -> list[str]:
    """Describe how two preparations differ other than by the content of their files."""
    changes = [f"data.{difference}" for difference in differences(stored.options, purpose.options)]
    if purpose.given != stored.given and not is_own:
        changes.append("it was made with another tokeniser")
    if purpose.format != stored.format:
        changes.append("it was made by another version of regard")
    return changes


def _phrases(options: LanguageData, layout: _Layout) -> list[set[Pair]]:
    """Return the pairs of words to join, learnt from the training text unless they are stored already."""
    if not options.joins().passes:
        return []
    if not layout.phrases.is_file():
        passes = learn_phrases(lambda: (line.text for line in lines_of_split(options, "train")), options.joins())
        write_record(layout.phrases, PhraseRecord(passes=[sorted(pairs) for pairs in passes]))
    return [set(pairs) for pairs in read_record(PhraseRecord, layout.phrases).passes]


def _tokeniser(
    options: LanguageData, layout: _Layout, phrases: Phrases, progress: Progress, given: Tokeniser | None
) -> Tokeniser:
    """Return the tokeniser, given or trained on the training text, unless it is stored already."""
    if not are_whole(layout.tokeniser_done):
        make_folder(layout.tokeniser)
        new_tokeniser = given or _made_of_training_text(options, phrases, progress)
        write_vouched(layout.tokeniser_done, new_tokeniser.files(_NAME))
    return _load_tokeniser(options, layout)


def _load_tokeniser(options: LanguageData, layout: _Layout) -> Tokeniser:
    return load_tokeniser(layout.tokeniser, _NAME, options.tokeniser.full())


def _made_of_training_text(options: LanguageData, phrases: Phrases, progress: Progress) -> Tokeniser:
    lines = join_phrases((line.text for line in lines_of_split(options, "train")), phrases)
    if not options.tokeniser.is_of_words:
        return train_tokeniser(options.tokeniser.full(), islice(lines, _SAMPLED), progress)
    tokeniser = train_tokeniser(options.tokeniser.full(), lines, progress)
    if (words := tokeniser.size - len(NAMES)) < _FEWEST_WORDS:
        amount = f"one word, '{tokeniser.pieces([len(NAMES)])[0]}'" if words else "no word"
        raise Fault(
            f"The vocabulary has {amount}: the text of data.train has no "
            f"other{' that occurs often enough' if options.tokeniser.at_least > 1 else ''}. A language model "
            "needs several to choose from."
        )
    return tokeniser


def _cut(
    options: LanguageData,
    split: str,
    layout: _Layout,
    phrases: Phrases,
    tokeniser: Tokeniser,
    left_out: np.ndarray,
    progress: Progress,
) -> None:
    """Write the tokens of a split, then its record."""
    record = SplitRecord()
    with whole_file(layout.tokens(split)) as file:
        for block in _in_blocks(lines_of_split(options, split)):
            remaining = _without(block, left_out)
            record.left_out += len(block) - len(remaining)
            file.write(_tokens_of(remaining, options, phrases, tokeniser, record))
            progress(f"tokenising the {split} text", record.lines, None)
    if not record.lines:
        amount = f"{quantity(record.blank, 'line')}, all blank" if record.blank else "no line"
        names = ", ".join(map(name_of, getattr(options, split) or options.train))
        raise Fault(f"data.{split} holds no text: {names} has {amount}{' left for it' if options.hold_out else ''}.")
    record.checksum = file_checksum(layout.tokens(split))
    write_record(layout.record(split), record)


def _without(block: list[Line], left_out: np.ndarray) -> list[Line]:
    """Return the lines whose hashes are not in `left_out`."""
    if not len(left_out):
        return block
    return list(compress(block, ~np.isin(hash_folded(line.text for line in block), left_out)))


def _in_blocks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Yield lines in blocks."""
    while block := list(islice(lines, _AT_ONCE)):
        yield block


def _tokens_of(
    lines: Sequence[Line], options: LanguageData, phrases: Phrases, tokeniser: Tokeniser, record: SplitRecord
) -> bytes:
    """Return the stored tokens of some lines, and update `record`."""
    texts = list(join_phrases((line.text for line in lines), phrases))
    tokens, lengths = encode_in_a_row(tokeniser, texts)
    if (lengths > options.longest).any():
        line, number = next(
            (line, int(length)) for line, length in zip(lines, lengths, strict=True) if length > options.longest
        )
        raise Fault(
            f"{line.file}, line {line.number:,} has {number:,} tokens, more than data.longest "
            f"({options.longest:,}); put each sentence on its own line, or raise data.longest."
        )
    ends = np.cumsum(lengths) if options.blank_lines else np.cumsum(lengths[lengths > 0])
    record.lines += len(ends)
    record.blank += len(lengths) - len(ends)
    stored = np.insert(tokens, ends, tokeniser.end).astype(_type_of(tokeniser))
    record.tokens += len(stored)
    record.unknown += int(np.count_nonzero(stored == tokeniser.unknown))
    return stored.tobytes()


def _type_of(tokeniser: Tokeniser) -> np.dtype:
    """Return the type that tokens are stored as, little-endian on every machine."""
    return np.dtype("<u2" if tokeniser.size <= 2**16 else "<u4")


def _open_tokens(layout: _Layout, split: str, record: SplitRecord, tokeniser: Tokeniser) -> np.ndarray:
    path = layout.tokens(split)
    tokens = np.memmap(path, _type_of(tokeniser), mode="r")
    if len(tokens) != record.tokens:
        raise damage(path, layout.folder)
    return tokens
