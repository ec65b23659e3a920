"""Prepare stories for training: arrays of word numbers, and the files stored with a model."""

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
EMPTY = 0  # no word, or an unknown one
UNKNOWN = -1  # class of an answer not seen in training, and place of no fact
MOST_WORDS = 100_000
MOST_CLASSES = 10_000


class StoryVocabulary(BaseModel):
    """Facts stored with a model: its words, its possible answers, and how many facts it remembers."""

    words: list[str] = Field(min_length=1, max_length=MOST_WORDS)
    classes: list[str] = Field(min_length=2, max_length=MOST_CLASSES)
    slots: int = Field(ge=1, le=1000)

    @property
    def names(self) -> list[str]:
        """All answers, then all words that are not answers."""
        return list(dict.fromkeys([*self.classes, *self.words]))

    def numbers(self) -> dict[str, int]:
        """Return the number of each name, answer or word; 0 stands for none."""
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
    """Questions of a split: words of facts (row, slot, word), the last facts of a story in the order told.

    `counts` is the number of facts, `support` (row, fact) holds the slots of supporting facts, and `forgotten` is the
    number of facts before the first one remembered.
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
    """All stories of a recipe, by split; `parts` are the names of the files they come from."""

    vocabulary: StoryVocabulary
    splits: Mapping[str, Stories]
    parts: Sequence[str]
    report: list[str]
    examples: Sequence[str] = ()

    @property
    def amount(self) -> Amount:
        return Amount(len(self.splits["train"]), "questions")

    def unlearnt_texts(self) -> Sequence[str]:
        """Return a validation story of each part, with its question, as its file has it."""
        return self.examples

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {VOCABULARY_FILE: self.vocabulary.model_dump_json().encode()}


def open_vocabulary(files: Mapping[str, bytes]) -> StoryVocabulary:
    """Read the vocabulary from the untrusted files of a model folder."""
    return open_kept(StoryVocabulary, files, VOCABULARY_FILE)


def check_stories_there(options: StoryData, folder: Path | None) -> None:
    """Refuse stories with a missing file, unless they lie prepared in `folder`."""
    if not is_finished(folder):
        for name in (*options.train, *options.valid, *options.test):
            check_there(name)


def prepare_stories(
    options: StoryData, folder: Path, progress: Progress, start: Mapping[str, bytes] | None
) -> PreparedStories:
    """Return the stories that `options` name, from `folder` if they were prepared there before.

    `start` holds the files of a model whose vocabulary is used.
    """
    finished = prepare_once(
        _Finished, folder, lambda record: record.options == options, lambda: _prepare(options, folder, progress, start)
    )
    files = {name: (folder / name).read_bytes() for name in finished.files}
    splits = {name: Stories(**arrays_in(files[f"{name}.npz"])) for name in SPLITS if f"{name}.npz" in files}
    return PreparedStories(open_vocabulary(files), splits, finished.parts, finished.report, finished.examples)


def _prepare(options: StoryData, folder: Path, progress: Progress, start: Mapping[str, bytes] | None) -> _Finished:
    files_of_split: dict[str, list[StoryFile]] = {}
    for number, split in enumerate(options.parts):
        progress("reading stories", number, len(options.parts))
        files_of_split[split] = [file for name in getattr(options, split) for file in read_story_files(name)]
    progress("reading stories", len(options.parts), len(options.parts))
    if not files_of_split["valid"]:
        files_of_split["train"], files_of_split["valid"] = _hold_out(files_of_split["train"], options)
    vocabulary = open_vocabulary(start) if start else _vocabulary(files_of_split["train"], options)
    parts = list(dict.fromkeys(file.name for files in files_of_split.values() for file in files))
    files, report = {VOCABULARY_FILE: vocabulary.model_dump_json().encode()}, []
    for split, split_files in files_of_split.items():
        arrays = cut_questions(
            [question for file in split_files for question in file.questions],
            [parts.index(file.name) for file in split_files for _ in file.questions],
            vocabulary,
        )
        if split == "valid" and (arrays.labels == UNKNOWN).all():
            raise Fault("No validation question has an answer that occurs in the training questions.")
        files[f"{split}.npz"] = arrays_to_bytes(vars(arrays))
        report.append(_report(split, arrays, split_files, vocabulary))
    report.append(f"{len(vocabulary.words)} words, {len(vocabulary.classes)} answers, at most {vocabulary.slots} facts")
    sums = save_files(folder, files)
    examples = [
        "\n".join([*story.facts, story.question]) for file in files_of_split["valid"] for story in file.questions[:1]
    ]
    return _Finished(options=options, report=report, files=sums, parts=parts, examples=examples)


def _hold_out(files: Sequence[StoryFile], options: StoryData) -> tuple[list[StoryFile], list[StoryFile]]:
    """Split each file into training and validation stories, always in the same way; no story is in both."""
    learnt, held_out = [], []
    for file in files:
        stories = sorted({question.story for question in file.questions})
        count = round(options.hold_out * len(stories))
        if not 0 < count < len(stories):
            raise Fault(
                f"{file.name} has {quantity(len(stories), 'story', 'stories')}, too few to hold some out; "
                "name others as data.valid."
            )
        chosen = set(np.random.default_rng(SEED).permutation(stories)[:count].tolist())
        learnt.append(StoryFile(file.name, [question for question in file.questions if question.story not in chosen]))
        held_out.append(StoryFile(file.name, [question for question in file.questions if question.story in chosen]))
    return learnt, held_out


def _vocabulary(files: Sequence[StoryFile], options: StoryData) -> StoryVocabulary:
    """Return all training words and answers; refuse data from which nothing can be learnt."""
    questions = [question for file in files for question in file.questions]
    sentences = {sentence for question in questions for sentence in (*question.facts, question.question)}
    words = sorted(set(chain.from_iterable(map(words_in, sentences))))
    classes = sorted({question.answer for question in questions})
    if not 2 <= len(classes) <= MOST_CLASSES:
        raise Fault(f"{files[0].name} has {len(classes):,} different answers; a model needs 2 to {MOST_CLASSES:,}.")
    if len(words) > MOST_WORDS:
        raise Fault(f"The stories have {len(words):,} different words; at most {MOST_WORDS:,} can be learnt.")
    longest = max(len(question.facts) for question in questions)
    return StoryVocabulary(words=words, classes=classes, slots=max(1, min(longest, options.facts)))


def cut_questions(questions: Sequence[Question], parts: Sequence[int], vocabulary: StoryVocabulary) -> Stories:
    """Return questions as arrays; unknown words are left out, and so are all but the last facts."""
    numbers, class_of = vocabulary.numbers(), {name: place for place, name in enumerate(vocabulary.classes)}
    word_numbers = {
        sentence: [numbers[word] for word in words_in(sentence) if word in numbers]
        for sentence in {text for question in questions for text in (*question.facts, question.question)}
    }
    counts = np.array([min(len(question.facts), vocabulary.slots) for question in questions])
    forgotten = np.array([len(question.facts) for question in questions]) - counts
    widest = max(1, *map(len, word_numbers.values()))
    small = np.int16 if len(numbers) < 2**15 else np.int32  # most of a large file is these
    facts = np.zeros((len(questions), max(1, counts.max()), widest), dtype=small)
    question_words = np.zeros((len(questions), widest), dtype=small)
    support = np.full((len(questions), max(1, *(len(question.support) for question in questions))), UNKNOWN)
    for row, question in enumerate(questions):
        for slot, fact in enumerate(question.facts[forgotten[row] :]):
            facts[row, slot, : len(word_numbers[fact])] = word_numbers[fact]
        question_words[row, : len(word_numbers[question.question])] = word_numbers[question.question]
        for number, place in enumerate(question.support):  # a forgotten fact keeps its number: hops learn by it
            support[row, number] = place - forgotten[row] if place >= forgotten[row] else UNKNOWN
    labels = np.array([class_of.get(question.answer, UNKNOWN) for question in questions])
    return Stories(facts, counts, question_words, labels, support, np.array(parts), forgotten)


def _report(split: str, stories: Stories, files: Sequence[StoryFile], vocabulary: StoryVocabulary) -> str:
    known_words = set(vocabulary.words)
    sentences = {
        sentence_of_story
        for file in files
        for story_question in file.questions
        for sentence_of_story in (*story_question.facts, story_question.question)
    }
    unknown = {word for sentence in sentences for word in words_in(sentence)} - known_words
    line = f"{split}: {len(stories):,} questions of {len(files)} {'file' if len(files) == 1 else 'files'}"
    if dropped := np.count_nonzero(stories.forgotten):
        line += f"; {dropped:,} have more than {vocabulary.slots} facts, of which only the last are remembered"
    if unanswerable := np.count_nonzero(stories.labels == UNKNOWN):
        line += f"; {unanswerable:,} have an answer that no training question has"
    return line + (f"; {len(unknown)} unknown words are left out" if unknown else "")
