"""From text files to tokens on disk: phrases and vocabulary first, then one file of tokens for each split.

Each step leaves files that are whole or not there, so that an interrupted preparation goes on where it was; what it
makes is the same to the byte.
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
from regard.data.corpora.source_files import InputFile, has_changed, input_of, with_checksums
from regard.data.corpora.text import file_of
from regard.data.examples import Amount
from regard.data.prepared import make_folder
from regard.data.texts.options import SPLITS, LanguageData, LanguageModelData, SpelledData, WordsData
from regard.data.texts.phrases import Pair, join_phrases, learn_phrases
from regard.data.texts.recipe_lines import Line, lines_of_split, name_of
from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser, encode_in_a_row, load_tokeniser, train_tokeniser

_FORMAT = 1
_AT_ONCE = 10_000  # lines that are cut together
_SAMPLED = 1_000_000  # lines from which subwords are learnt
_FEWEST_WORDS = 2
_NAME = "tokeniser"
Phrases = Sequence[set[Pair]]


class TextPurpose(BaseModel):
    """Sources of a prepared text: files, options and their checksums."""

    format: int
    options: SerializeAsAny[LanguageData | LanguageModelData | SpelledData | WordsData]
    inputs: list[InputFile]
    given: str = ""  # a checksum of the tokeniser that was given; none if it is made here


class PhraseRecord(BaseModel):
    """The pairs of words that each pass joins."""

    passes: list[list[Pair]]


class SplitRecord(BaseModel):
    """Counts of what became of the lines of a split."""

    lines: int = 0
    blank: int = 0  # passed over
    tokens: int = 0  # with an end for each line
    unknown: int = 0
    left_out: int = 0  # lines by which a translator is judged
    checksum: str = ""

    def report(self, name: str) -> str:
        """Report what was read, and what was skipped."""
        words = self.tokens - self.lines
        said = f"{name}: {quantity(self.lines, 'line')}, {words:,} tokens"
        if self.unknown:
            said += f", {self.unknown:,} of them unknown ({self.unknown / words:.2%})"
        if self.left_out:
            said += f"; left out, for a translator is judged by them: {quantity(self.left_out, 'line')}"
        return said + (f"; blank and passed over: {quantity(self.blank, 'line')}" if self.blank else "")


@dataclass(frozen=True)
class PreparedText:
    """Text as tokens, every line of which ends with the end token; `splits` has those that the recipe names."""

    folder: Path
    tokeniser: Tokeniser
    splits: dict[str, np.ndarray]
    report: list[str]

    @property
    def amount(self) -> Amount:
        return Amount(len(self.splits["train"]), "tokens")

    def unlearnt_texts(self) -> Iterator[str]:
        """The lines of the validation text, as the tokeniser spells them."""
        tokens = self.splits.get("valid", self.splits["train"][:0])
        ends = np.flatnonzero(tokens == self.tokeniser.end)
        for start, end in pairwise([0, *(ends + 1)]):
            if self.tokeniser.unknown not in tokens[start:end]:
                yield self.tokeniser.decode(tokens[start : end - 1].tolist())

    def files(self) -> dict[str, bytes]:
        """Return its files for the model folder."""
        return self.tokeniser.files(_NAME)


class _Layout:
    """Where things lie in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.purpose = folder / "purpose.json"
        self.phrases = folder / "phrases.json"
        self.tokeniser = folder / "tokeniser"
        self.tokeniser_done = folder / "tokeniser" / "done.json"  # vouches for it

    def tokens(self, split: str) -> Path:
        return self.folder / f"{split}.bin"

    def record(self, split: str) -> Path:
        """Return the path of a split's record, which is written after its tokens and vouches for them."""
        return self.folder / f"{split}.json"

    def clear(self) -> None:
        """Remove all that a preparation has made."""
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
    """Cut the text of `options` into tokens in `folder`, or open it at once if that was done before.

    A tokeniser that is given cuts it; otherwise one is made of the training text. A folder that holds the preparation
    of something else is refused. Once it is finished, the text need not be there any more. `find_left_out` is asked for
    the hashes of sentences that are left out of the training text, if that is yet to be cut.
    """
    layout, splits = _Layout(folder), options.parts
    purpose = _purpose_of(options, tokeniser, all_there=not _is_finished(options, layout))
    check_free(folder)
    make_folder(folder)
    with lock_folder(folder, progress):
        _claim(layout, purpose, remark, _is_of(layout, tokeniser))
        phrases = _phrases(options, layout)
        made = _tokeniser(options, layout, phrases, progress, tokeniser)
        for split in splits:
            if not layout.record(split).is_file():
                left_out = find_left_out() if split == "train" else np.zeros(0, np.uint64)
                _cut(options, split, layout, phrases, made, left_out, progress)
        remove_leftovers(folder)
    records = {split: read_record(SplitRecord, layout.record(split)) for split in splits}
    check_files(folder, {layout.tokens(split).name: record.checksum for split, record in records.items()})
    return PreparedText(
        folder,
        made,
        {split: _open_tokens(layout, split, record, made) for split, record in records.items()},
        [record.report(split) for split, record in records.items()],
    )


def tokeniser_in(options: LanguageData, folder: Path) -> Tokeniser | None:
    """The tokeniser by which text was cut in `folder`, if that was begun."""
    layout = _Layout(folder)
    return _load_tokeniser(options, layout) if are_whole(layout.tokeniser_done) else None


def check_files_of(options: LanguageData, folder: Path | None) -> None:
    """Refuse text that is not there, unless it lies prepared in `folder`."""
    if folder is None or not _is_finished(options, _Layout(folder)):
        _purpose_of(options, None, all_there=True)


def _is_finished(options: LanguageData, layout: _Layout) -> bool:
    return all(layout.record(split).is_file() for split in options.parts)


def _purpose_of(options: LanguageData, tokeniser: Tokeniser | None, all_there: bool) -> TextPurpose:
    names = dict.fromkeys(map(name_of, [*options.train, *options.valid, *options.test]))
    inputs = [input_of(name) for name in names if all_there or file_of(name).is_file()]
    # Of a tokeniser that is taken over its checksum counts, not where it came from.
    tokens = options.tokeniser.model_copy(update={"from_": ""} if options.tokeniser.is_taken_over else {})
    own = options.model_copy(update={"prepared": None, "tokeniser": tokens})
    return TextPurpose(format=_FORMAT, options=own, inputs=inputs, given=_checksum(tokeniser) if tokeniser else "")


def _checksum(tokeniser: Tokeniser) -> str:
    return checksum(b"".join(tokeniser.files(_NAME).values()))


def _is_of(layout: _Layout, tokeniser: Tokeniser | None) -> bool:
    """Return True if this very tokeniser was made in the folder."""
    if tokeniser is None or not are_whole(layout.tokeniser_done):
        return False
    return all((layout.tokeniser / name).read_bytes() == own for name, own in tokeniser.files(_NAME).items())


def _claim(layout: _Layout, purpose: TextPurpose, remark: Remark, is_own: bool) -> None:
    """Make the folder one for this purpose; a finished preparation of something else is refused.

    What was only begun of something else is of no use to anyone. A model that was trained on this text brings the
    tokeniser that was made of it, which `is_own`.
    """
    stored = read_record(TextPurpose, layout.purpose) if layout.purpose.is_file() else None
    changes = _changes(stored, purpose, is_own) if stored else []
    if stored is None or (changes and not _is_finished(stored.options, layout)):
        layout.clear()
        write_record(layout.purpose, purpose.model_copy(update={"inputs": with_checksums(purpose.inputs)}))
        return
    if changes:
        raise Fault(
            f"{layout.folder} holds text prepared from something else: {'; '.join(changes)}. "
            "Name another folder as data.prepared, or delete this one."
        )
    for name in {each.name for each in stored.inputs} - {each.name for each in purpose.inputs}:
        remark(f"{name} is not there any more; going on with what was prepared from it.")


def _changes(stored: TextPurpose, purpose: TextPurpose, is_own: bool) -> list[str]:
    """Describe what two preparations are made from differently."""
    before = {each.name: each for each in stored.inputs}
    changes = [f"data.{difference}" for difference in differences(stored.options, purpose.options)]
    if purpose.given != stored.given and not is_own:
        changes.append("it was cut by another tokeniser")
    if purpose.format != stored.format:
        changes.append("it was made by another version of regard")
    changed = (each.name for each in purpose.inputs if has_changed(before.get(each.name), each))
    return changes + [f"the file {name} has changed" for name in changed]


def _phrases(options: LanguageData, layout: _Layout) -> list[set[Pair]]:
    """The pairs of words that are joined, learnt from the training text, unless they lie there already."""
    if not options.joins().passes:
        return []
    if not layout.phrases.is_file():
        passes = learn_phrases(lambda: (line.text for line in lines_of_split(options, "train")), options.joins())
        write_record(layout.phrases, PhraseRecord(passes=[sorted(pairs) for pairs in passes]))
    return [set(pairs) for pairs in read_record(PhraseRecord, layout.phrases).passes]


def _tokeniser(
    options: LanguageData, layout: _Layout, phrases: Phrases, progress: Progress, given: Tokeniser | None
) -> Tokeniser:
    """The tokeniser, given or made of the training text, unless it lies there already."""
    if not are_whole(layout.tokeniser_done):
        make_folder(layout.tokeniser)
        made = given or _made_of_training_text(options, phrases, progress)
        write_vouched(layout.tokeniser_done, made.files(_NAME))
    return _load_tokeniser(options, layout)


def _load_tokeniser(options: LanguageData, layout: _Layout) -> Tokeniser:
    return load_tokeniser(layout.tokeniser, _NAME, options.tokeniser.full())


def _made_of_training_text(options: LanguageData, phrases: Phrases, progress: Progress) -> Tokeniser:
    lines = join_phrases((each.text for each in lines_of_split(options, "train")), phrases)
    if not options.tokeniser.is_of_words:
        return train_tokeniser(options.tokeniser.full(), islice(lines, _SAMPLED), progress)
    tokeniser = train_tokeniser(options.tokeniser.full(), lines, progress)
    if (words := tokeniser.size - len(NAMES)) < _FEWEST_WORDS:
        found = f"one word, '{tokeniser.pieces([len(NAMES)])[0]}'" if words else "no word"
        raise Fault(
            f"The vocabulary has {found}: the text of data.train has no other"
            f"{' that occurs often enough' if options.tokeniser.at_least > 1 else ''}. "
            "A model of text needs several to choose from."
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
    """Write the tokens of a split, then what became of its lines."""
    record = SplitRecord()
    with whole_file(layout.tokens(split)) as file:
        for block in _in_blocks(lines_of_split(options, split)):
            learnt = _without(block, left_out)
            record.left_out += len(block) - len(learnt)
            file.write(_tokens_of(learnt, options, phrases, tokeniser, record))
            progress(f"cutting the {split} text", record.lines, None)
    if not record.lines:
        said = f"{quantity(record.blank, 'line')}, nothing but blank" if record.blank else "no line"
        names = ", ".join(map(name_of, getattr(options, split) or options.train))
        raise Fault(f"data.{split} holds no text: {names} has {said}{' left for it' if options.hold_out else ''}.")
    record.checksum = file_checksum(layout.tokens(split))
    write_record(layout.record(split), record)


def _without(block: list[Line], left_out: np.ndarray) -> list[Line]:
    """The lines that are not to be left out, by the hashes of those."""
    if not len(left_out):
        return block
    return list(compress(block, ~np.isin(hash_folded(line.text for line in block), left_out)))


def _in_blocks(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Some lines at once."""
    while block := list(islice(lines, _AT_ONCE)):
        yield block


def _tokens_of(
    lines: Sequence[Line], options: LanguageData, phrases: Phrases, tokeniser: Tokeniser, record: SplitRecord
) -> bytes:
    """The tokens of some lines as they are stored; `record` is brought up to date."""
    texts = list(join_phrases((line.text for line in lines), phrases))
    tokens, lengths = encode_in_a_row(tokeniser, texts)
    if (lengths > options.longest).any():
        line, number = next(
            (line, int(each)) for line, each in zip(lines, lengths, strict=True) if each > options.longest
        )
        raise Fault(
            f"{line.file}, line {line.number:,} has {number:,} tokens, more than the {options.longest:,} of "
            "data.longest; a sentence should stand on a line of its own. Raise that if it is meant to be one."
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
