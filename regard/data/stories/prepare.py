"""Stories made ready for training: numbers of words in arrays, and what travels with a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress
from regard.data.arrays import arrays_in, arrays_to_bytes
from regard.data.examples import Amount
from regard.data.holding_out import SEED
from regard.data.prepared import SPLITS, FinishedRecord, is_finished, open_kept, prepare_once, save_files
from regard.data.stories.options import StoryData
from regard.data.stories.reading import Question, StoryFile, check_there, read_story_files, words_in

VOCABULARY_FILE = "vocabulary.json"
EMPTY = 0  # stands where there is no word, or an unknown one
UNKNOWN = -1  # the class of an answer that is none of those learnt, and the place of no fact
MOST_WORDS = 100_000
MOST_CLASSES = 10_000


class StoryVocabulary(BaseModel):
    """Facts that travel with a model: its words, its possible answers, and how many facts it remembers."""

    words: list[str] = Field(min_length=1, max_length=MOST_WORDS)
    classes: list[str] = Field(min_length=2, max_length=MOST_CLASSES)
    slots: int = Field(ge=1, le=1000)

    @property
    def names(self) -> list[str]:
        """All answers, then all words that are none."""
        return list(dict.fromkeys([*self.classes, *self.words]))

    def numbers(self) -> dict[str, int]:
        """The number of each name, and so of each answer and of each word; 0 is none."""
        return {name: number for number, name in enumerate(self.names, 1)}


class _Finished(FinishedRecord):
    """Record of a preparation."""

    options: StoryData
    report: list[str]
    files: dict[str, str]
    parts: list[str]
    examples: list[str]


@dataclass(frozen=True)
class Stories:
    """The questions of a split: words of facts (row, slot, word), the last facts of a story in the order told.

    `counts` says how many there are, `support` (row, fact) the slots of those that support the answer, and `forgotten`
    how many came before the first that is remembered.
    """

    facts: np.ndarray
    counts: np.ndarray
    questions: np.ndarray
    labels: np.ndarray
    support: np.ndarray
    parts: np.ndarray
    forgotten: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class PreparedStories:
    """All stories of a recipe, split by split; `parts` are the names of the files that they come from."""

    vocabulary: StoryVocabulary
    splits: Mapping[str, Stories]
    parts: Sequence[str]
    report: list[str]
    examples: Sequence[str] = ()

    @property
    def amount(self) -> Amount:
        return Amount(len(self.splits["train"]), "questions")

    def unlearnt_texts(self) -> Sequence[str]:
        """A validation story of each part, with its question, as its file tells it."""
        return self.examples

    def files(self) -> dict[str, bytes]:
        """Return its files for a model folder."""
        return {VOCABULARY_FILE: self.vocabulary.model_dump_json().encode()}


def open_vocabulary(files: Mapping[str, bytes]) -> StoryVocabulary:
    """The vocabulary in the files of a model folder, which need not be trusted."""
    return open_kept(StoryVocabulary, files, VOCABULARY_FILE)


def check_stories_there(options: StoryData, folder: Path | None) -> None:
    """Refuse stories of which a file is missing, unless they lie prepared in `folder`."""
    if not is_finished(folder):
        for name in (*options.train, *options.valid, *options.test):
            check_there(name)


def prepare_stories(
    options: StoryData, folder: Path, progress: Progress, start: Mapping[str, bytes] | None
) -> PreparedStories:
    """The stories that `options` name, from `folder` if they were prepared there before.

    `start` holds the files of a model whose vocabulary is to be used.
    """
    finished = prepare_once(
        _Finished, folder, lambda record: record.options == options, lambda: _prepare(options, folder, progress, start)
    )
    files = {name: (folder / name).read_bytes() for name in finished.files}
    splits = {name: Stories(**arrays_in(files[f"{name}.npz"])) for name in SPLITS if f"{name}.npz" in files}
    return PreparedStories(open_vocabulary(files), splits, finished.parts, finished.report, finished.examples)


def _prepare(options: StoryData, folder: Path, progress: Progress, start: Mapping[str, bytes] | None) -> _Finished:
    read: dict[str, list[StoryFile]] = {}
    for number, split in enumerate(options.parts):
        progress("reading stories", number, len(options.parts))
        read[split] = [file for name in getattr(options, split) for file in read_story_files(name)]
    progress("reading stories", len(options.parts), len(options.parts))
    if not read["valid"]:
        read["train"], read["valid"] = _hold_out(read["train"], options)
    vocabulary = open_vocabulary(start) if start else _vocabulary(read["train"], options)
    parts = list(dict.fromkeys(file.name for files in read.values() for file in files))
    files, report = {VOCABULARY_FILE: vocabulary.model_dump_json().encode()}, []
    for split, own in read.items():
        cut = cut_questions(
            [question for file in own for question in file.questions],
            [parts.index(file.name) for file in own for _ in file.questions],
            vocabulary,
        )
        if split == "valid" and (cut.labels == UNKNOWN).all():
            raise Fault("No question to validate by has an answer that the questions to learn from have.")
        files[f"{split}.npz"] = arrays_to_bytes(vars(cut))
        report.append(_report(split, cut, own, vocabulary))
    report.append(f"{len(vocabulary.words)} words, {len(vocabulary.classes)} answers, {vocabulary.slots} facts at most")
    sums = save_files(folder, files)
    examples = ["\n".join([*story.facts, story.question]) for file in read["valid"] for story in file.questions[:1]]
    return _Finished(options=options, report=report, files=sums, parts=parts, examples=examples)


def _hold_out(files: Sequence[StoryFile], options: StoryData) -> tuple[list[StoryFile], list[StoryFile]]:
    """Each file without some of its stories, drawn once and for all, and with those alone: no story is in both."""
    learnt, held_out = [], []
    for file in files:
        stories = sorted({question.story for question in file.questions})
        count = round(options.hold_out * len(stories))
        if not 0 < count < len(stories):
            raise Fault(
                f"{file.name} has {quantity(len(stories), 'story', 'stories')}, too few to set some "
                "aside; name others as data.valid."
            )
        drawn = set(np.random.default_rng(SEED).permutation(stories)[:count].tolist())
        learnt.append(StoryFile(file.name, [each for each in file.questions if each.story not in drawn]))
        held_out.append(StoryFile(file.name, [each for each in file.questions if each.story in drawn]))
    return learnt, held_out


def _vocabulary(files: Sequence[StoryFile], options: StoryData) -> StoryVocabulary:
    """All words and answers to learn from; what nothing can be learnt from is refused."""
    questions = [question for file in files for question in file.questions]
    sentences = {sentence for each in questions for sentence in (*each.facts, each.question)}
    words = sorted(set(chain.from_iterable(map(words_in, sentences))))
    classes = sorted({each.answer for each in questions})
    if not 2 <= len(classes) <= MOST_CLASSES:
        raise Fault(f"{files[0].name} has {len(classes):,} different answers; 2 to {MOST_CLASSES:,} can be learnt.")
    if len(words) > MOST_WORDS:
        raise Fault(f"The stories have {len(words):,} different words; {MOST_WORDS:,} can be learnt.")
    longest = max(len(each.facts) for each in questions)
    return StoryVocabulary(words=words, classes=classes, slots=max(1, min(longest, options.facts)))


def cut_questions(questions: Sequence[Question], parts: Sequence[int], vocabulary: StoryVocabulary) -> Stories:
    """Questions as arrays; unknown words are left out, and all facts of a story but the last."""
    numbers, known = vocabulary.numbers(), {name: place for place, name in enumerate(vocabulary.classes)}
    cut = {
        sentence: [numbers[word] for word in words_in(sentence) if word in numbers]
        for sentence in {each for question in questions for each in (*question.facts, question.question)}
    }
    counts = np.array([min(len(each.facts), vocabulary.slots) for each in questions])
    forgotten = np.array([len(each.facts) for each in questions]) - counts
    widest = max(1, *map(len, cut.values()))
    small = np.int16 if len(numbers) < 2**15 else np.int32  # of ten thousand stories a task most of a file is these
    facts = np.zeros((len(questions), max(1, counts.max()), widest), dtype=small)
    asked = np.zeros((len(questions), widest), dtype=small)
    support = np.full((len(questions), max(1, *(len(each.support) for each in questions))), UNKNOWN)
    for row, each in enumerate(questions):
        for slot, fact in enumerate(each.facts[forgotten[row] :]):
            facts[row, slot, : len(cut[fact])] = cut[fact]
        asked[row, : len(cut[each.question])] = cut[each.question]
        kept = [place - forgotten[row] for place in each.support if place >= forgotten[row]]
        support[row, : len(kept)] = kept
    labels = np.array([known.get(each.answer, UNKNOWN) for each in questions])
    return Stories(facts, counts, asked, labels, support, np.array(parts), forgotten)


def _report(split: str, stories: Stories, files: Sequence[StoryFile], vocabulary: StoryVocabulary) -> str:
    known = set(vocabulary.words)
    sentences = {each for file in files for one in file.questions for each in (*one.facts, one.question)}
    unknown = {word for sentence in sentences for word in words_in(sentence)} - known
    line = f"{split}: {len(stories):,} questions of {len(files)} {'file' if len(files) == 1 else 'files'}"
    if dropped := np.count_nonzero(stories.forgotten):
        line += f"; {dropped:,} have more than {vocabulary.slots} facts, of which the last are remembered"
    if strange := np.count_nonzero(stories.labels == UNKNOWN):
        line += f"; {strange:,} have an answer that no question to learn from has"
    return line + (f"; {len(unknown)} words are unknown and left out" if unknown else "")
