"""Scoring a model of any kind, on a split of its own data or on files."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.corpora.text import read_pairs
from regard.data.texts.recipe_lines import numbered_lines
from regard.decoding.options import change_options
from regard.families import check_recipe, with_article
from regard.loading import Loaded
from regard.metrics import Score
from regard.metrics.bleu import check_tokeniser
from regard.runs.evaluate import evaluate_files, evaluate_parts, evaluate_split
from regard.runs.from_text.own_data import OwnFiles, with_own_data
from regard.runs.kept_scores import keep_scores
from regard.runs.word_scores import ScoredWords, WordQuestions, score_words
from regard.verbs.generate.evaluation import evaluate_file, evaluate_lines
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate import evaluation
from regard.verbs.translate.model import TranslationModel
from regard.verbs.words.evaluation import WordScore

Way = Literal["translations", "text", "words", "split"]
USUAL = ("bleu", "chrf")  # of a translator, when nobody names a metric


@dataclass(frozen=True)
class EvaluationRequest:
    """Request to score a model: data and metrics; a test set is one of sacreBLEU's, by name.

    `files` are of the kind that the model's recipe learns from: pairs, labelled texts, tagged sentences or text.
    """

    split: str = "test"
    source: Path | None = None
    references: Sequence[Path] = ()
    metrics: Sequence[str] = ()
    beam: int | None = None
    length_penalty: float | None = None
    helpers: Mapping[str, Any] = field(default_factory=dict)  # fields of a request to translate
    test_set: str | None = None
    tokenise: str | None = None
    questions: WordQuestions = field(default_factory=WordQuestions)
    files: OwnFiles | None = None
    alignments: Path | None = None  # links of each pair, for aer
    parts: bool = False  # whether parts of a split, such as types of spans, are scored by themselves too


@dataclass(frozen=True)
class ScoredModel:
    """The scores of a model, what they count, and what more there is to tell, by what it was scored on."""

    scores: list[Score]
    counted: str
    parts: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    words: ScoredWords | None = None
    translations: evaluation.Evaluation | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the scores as `regard evaluate --json` prints them."""
        if self.translations is not None:
            return self.translations.as_dict()
        every: Sequence[Score | WordScore] = self.scores
        if self.words is not None:
            every = [*self.words.losses, *self.words.found]
        found: dict[str, Any] = {"scores": [each.as_dict() for each in every]}
        if self.parts:
            found["parts"] = {name: [score.as_dict() for score in own] for name, own in self.parts.items()}
        return found


def way_to_score(model: Loaded, asked: EvaluationRequest) -> Way:
    """By what a model is scored on what is asked; refused is what is asked of other models."""
    if isinstance(model, TranslationModel):
        if (asked.source is None) != (not asked.references):
            raise Fault("--source and --reference belong together; give both, or a --split.")
        return "translations"
    of_others: dict[str, object] = {
        "--reference": asked.references or None,
        "--test-set": asked.test_set,
        "--tokenise": asked.tokenise,
        "--alignments": asked.alignments,
    }
    of_others |= {f"--{name.replace('_', '-')}": value for name, value in asked.helpers.items()}
    if not _searches(model):
        of_others |= {"--beam": asked.beam, "--length-penalty": asked.length_penalty}
    if not isinstance(model, LanguageModel):
        of_others["--source"] = asked.source
    if given := [name for name, value in of_others.items() if value is not None]:
        own, measures = with_article(model.recipe.family), ", ".join(model.task.MEASURES)
        raise Fault(f"{given[0]} is for translators; {own} is scored on a --split of its data, by {measures}.")
    if asked.source is not None or (asked.files is not None and isinstance(model, LanguageModel)):
        return "text"
    return "words" if "neighbours" in model.verbs else "split"


def evaluate_model(
    model: Loaded, folder: Path | None, asked: EvaluationRequest, progress: Progress, remark: Remark
) -> ScoredModel:
    """Score a model as is asked; the scores of a split are kept in the folder, and so need one."""
    way = way_to_score(model, asked)
    if way == "translations":
        assert isinstance(model, TranslationModel)
        translated = _evaluate_translator(model, folder, asked, progress, remark)
        return ScoredModel(translated.scores, "sentences", translations=translated)
    if way == "text":
        assert isinstance(model, LanguageModel)
        return ScoredModel(evaluate_text(model, asked), "tokens")
    own = _needed(folder)
    if asked.files is not None:
        scores, parts = evaluate_files(model, own, asked.files, asked.metrics, progress, remark)
        return ScoredModel(scores, "items", parts)
    if way == "words":
        words = score_words(model, own, asked.split, asked.metrics, asked.questions, progress, remark)
        return ScoredModel([*words.losses, *(each.score for each in words.found)], "questions", words=words)
    searching = _searching_as(model, asked)
    scores = evaluate_split(searching, own, asked.split, asked.metrics, progress, remark)
    parts = evaluate_parts(searching, own, asked.split, asked.metrics, progress, remark) if asked.parts else {}
    keep_scores(own, scores, remark)
    return ScoredModel(scores, "items", parts)


def _searches(model: Loaded) -> bool:
    """Return True if a model's own data is scored by a search, as captions are."""
    return "caption" in model.verbs


def _searching_as(model: Loaded, asked: EvaluationRequest) -> Loaded:
    """Return the model with the requested search, if it searches."""
    if not _searches(model):
        return model
    changed = copy(model)
    given = {"beam": asked.beam, "length_penalty": asked.length_penalty}
    decoding = change_options(model.task.decoding, given, None)
    changed.recipe = model.recipe.model_copy(update={"decoding": decoding})
    return changed


def _evaluate_translator(
    model: TranslationModel, folder: Path | None, asked: EvaluationRequest, progress: Progress, remark: Remark
) -> evaluation.Evaluation:
    """Translate what is asked for and score it; the scores of a split are kept in the folder."""
    metrics = asked.metrics or USUAL
    evaluation.check_metrics(metrics)
    check_tokeniser(asked.tokenise, metrics)
    if asked.source is not None:
        data = evaluation.from_files(asked.source, asked.references)
    elif asked.files is not None:
        data = _from_pairs(model, asked.files)
    elif asked.test_set is not None:
        data = evaluation.from_named_set(model, asked.test_set)
    else:
        data = evaluation.from_split(model, _needed(folder), asked.split)
    if asked.alignments is not None:
        data = evaluation.with_alignments(data, asked.alignments, metrics)
    if folder is not None:
        data = evaluation.mark_learnt(data, model, folder)
    found = evaluation.evaluate(
        model, data, metrics, asked.beam, asked.length_penalty, progress, remark, asked.tokenise, asked.helpers
    )
    if found.learnt:
        remark(found.learnt_in_words(len(data.sources)))
    if data.split is not None:
        keep_scores(_needed(folder), found.scores, remark)
    return found


def _from_pairs(model: TranslationModel, files: OwnFiles) -> evaluation.TestData:
    """Return the pairs in files, read as the model's own were, unless columns are chosen."""
    options = check_recipe(with_own_data(model.recipe.model_dump(exclude_none=True), files)).data
    pairs = [pair for corpus in options.test for pair in read_pairs(corpus)]
    if not pairs:
        raise Fault(f"{', '.join(map(str, files.test))} has no pairs to score the model on.")
    return evaluation.from_pairs(pairs, None, options.merge_references)


def evaluate_text(model: LanguageModel, asked: EvaluationRequest) -> list[Score]:
    """Score a language model on a text, or on the column of a table that is text."""
    if asked.files is None:
        assert asked.source is not None
        return evaluate_file(model, asked.source, asked.metrics)
    options = check_recipe(with_own_data(model.recipe.model_dump(exclude_none=True), asked.files)).data
    lines = (line for file in options.test for _, line in numbered_lines(file))
    return evaluate_lines(model, lines, asked.files.test[0], asked.metrics)


def _needed(folder: Path | None) -> Path:
    if folder is None:
        raise Fault("This model was not loaded from a folder, so nobody knows its data; give the folder, or files.")
    return folder
