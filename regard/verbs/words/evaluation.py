"""Score word vectors on files of analogies and judged pairs, with the share that the vocabulary covers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.base.progress import Progress
from regard.data.corpora.text import file_of
from regard.data.vectors.questions import JudgedPair, Section, read_analogies, read_judged_pairs
from regard.metrics import Score
from regard.tasks.words.measures import (
    VOCABULARY,
    AnalogyScore,
    SimilarityScore,
    add_scores,
    compare_similarities,
    solve_analogies,
)
from regard.verbs.words.lexicon import Lexicon
from regard.verbs.words.request import VectorSide

TOTAL = "total"
MEASURES = ("loss", "accuracy", "spearman")  # for text, analogies and similarity


@dataclass(frozen=True)
class Manner:
    """Lookup of the words of questions: among how many frequent words, and whether case matters.

    `side` chooses one of a model's sets of vectors.
    """

    vocabulary: int = VOCABULARY
    any_case: bool = True
    side: VectorSide | None = None

    def __str__(self) -> str:
        side = f"side:{self.side}|" if self.side else ""
        return f"{side}vocabulary:{self.vocabulary}|case:{'any' if self.any_case else 'own'}"


@dataclass(frozen=True)
class Questions:
    """Analogies and judged pairs by the names of their files."""

    analogies: dict[str, list[Section]]
    similarities: dict[str, list[JudgedPair]]


def read_questions(analogies: Sequence[str], similarities: Sequence[str]) -> Questions:
    """Read files of questions, each named by its path or as SET:path."""
    return Questions(
        {name: read_analogies(file_of(name)) for name in analogies},
        {name: read_judged_pairs(file_of(name)) for name in similarities},
    )


@dataclass(frozen=True)
class WordScore:
    """A score on a file of questions or one of its sections, and how many questions it has."""

    file: str
    section: str  # TOTAL, the name of a section, or for pairs, how unknown words are treated
    score: Score
    asked: int

    @property
    def is_whole(self) -> bool:
        """True for a whole file, False for a section."""
        return self.score.metric != "accuracy" or self.section == TOTAL

    @property
    def coverage(self) -> float:
        """The share of questions that this vocabulary covers."""
        return self.score.n / self.asked

    def as_dict(self) -> dict[str, Any]:
        more = {"file": self.file, "section": self.section, "asked": self.asked, "coverage": self.coverage}
        return self.score.as_dict() | more


def evaluate_words(
    lexicon: Lexicon, questions: Questions, manner: Manner, progress: Progress, split: str | None = None
) -> list[WordScore]:
    """Return all scores of a lexicon: analogies by section and in total, similarity by file.

    If vectors of unknown words can be composed, similarity is scored without such words and with them.
    """
    vectors, scores = lexicon.vectors, list[WordScore]()
    for name, sections in questions.analogies.items():
        solved = solve_analogies(vectors, sections, manner.vocabulary, manner.any_case, progress)
        scores += [_of_analogies(name, score, manner, split) for score in [*solved, add_scores(solved, TOTAL)]]
    for name, pairs in questions.similarities.items():
        known, composed = (
            compare_similarities(vectors, pairs, manner.vocabulary, manner.any_case, compose)
            for compose in (None, lexicon.compose)
        )
        scores.append(_of_similarities(name, known, "omitted", manner, split))
        if composed.compared > known.compared:
            scores.append(_of_similarities(name, composed, "composed", manner, split))
    return scores


def _of_analogies(name: str, score: AnalogyScore, manner: Manner, split: str | None) -> WordScore:
    signature = (
        f"analogies:{name}|section:{score.section}|method:3CosAdd|{manner}|unknown:omitted|"
        f"covered:{score.tried}/{score.asked}|range:0-1"
    )
    return WordScore(name, score.section, Score("accuracy", score.accuracy, signature, score.tried, split), score.asked)


def _of_similarities(name: str, score: SimilarityScore, unknown: str, manner: Manner, split: str | None) -> WordScore:
    signature = f"similarities:{name}|{manner}|unknown:{unknown}|covered:{score.compared}/{score.asked}|range:-1-1"
    section = f"unknown words {unknown}"
    return WordScore(name, section, Score("spearman", score.spearman, signature, score.compared, split), score.asked)
