"""Score a model of any kind on a split of its own data or on files."""

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
USUAL = ("bleu", "chrf")  # for a translator, unless metrics are named


@dataclass(frozen=True)
class EvaluationRequest:
    """Request to score a model: data and metrics; `test_set` names one of sacreBLEU's.

    `files` must be of the kind that the model's recipe learns from: pairs, labelled texts, tagged sentences or text.
    """

    split: str = "test"
    source: Path | None = None
    references: Sequence[Path] = ()
    metrics: Sequence[str] = ()
    beam: int | None = None
    length_penalty: float | None = None
    helpers: Mapping[str, Any] = field(default_factory=dict)  # fields of a translation request
    test_set: str | None = None
    tokenise: str | None = None
    questions: WordQuestions = field(default_factory=WordQuestions)
    files: OwnFiles | None = None
    alignments: Path | None = None  # links of each pair, for aer
    parts: bool = False  # also score parts of a split, such as span types


@dataclass(frozen=True)
class ScoredModel:
    """The scores of a model, the unit they count, and details that depend on what was scored."""

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
        result: dict[str, Any] = {"scores": [one_score.as_dict() for one_score in every]}
        if self.parts:
            result["parts"] = {
                name: [score.as_dict() for score in part_scores] for name, part_scores in self.parts.items()
            }
        return result


def way_to_score(model: Loaded, request: EvaluationRequest) -> Way:
    """Return how to score the model for this request; refuse options that belong to other models."""
    if request.split not in ("test", "valid"):
        raise Fault(f"There is no split {request.split!r}; give test or valid.")
    if isinstance(model, TranslationModel):
        if (request.source is None) != (not request.references):
            raise Fault("--source and --reference belong together; give both, or a --split.")
        return "translations"
    of_others: dict[str, object] = {
        "--reference": request.references or None,
        "--test-set": request.test_set,
        "--tokenise": request.tokenise,
        "--alignments": request.alignments,
    }
    of_others |= {f"--{name.replace('_', '-')}": value for name, value in request.helpers.items()}
    if not _searches(model):
        of_others |= {"--beam": request.beam, "--length-penalty": request.length_penalty}
    if not isinstance(model, LanguageModel):
        of_others = {"--source": request.source} | of_others
    if foreign := [name for name, value in of_others.items() if value is not None]:
        family, measures = with_article(model.recipe.family), ", ".join(model.task.MEASURES)
        whose = "translators and models that continue text" if foreign[0] == "--source" else "translators"
        raise Fault(f"{foreign[0]} is for {whose}; {family} is scored on a --split of its data, by {measures}.")
    if request.source is not None or (request.files is not None and isinstance(model, LanguageModel)):
        return "text"
    return "words" if "neighbours" in model.verbs else "split"


def evaluate_model(
    model: Loaded, folder: Path | None, request: EvaluationRequest, progress: Progress, remark: Remark
) -> ScoredModel:
    """Score a model as requested; scores of a split are stored in the folder, so they need one."""
    way = way_to_score(model, request)
    if way == "translations":
        assert isinstance(model, TranslationModel)
        translated = _evaluate_translator(model, folder, request, progress, remark)
        return ScoredModel(translated.scores, "sentences", translations=translated)
    if way == "text":
        assert isinstance(model, LanguageModel)
        return ScoredModel(evaluate_text(model, request), "items")
    own_folder = _needed(folder)
    if request.files is not None:
        scores, parts = evaluate_files(model, own_folder, request.files, request.metrics, progress, remark)
        return ScoredModel(scores, "items", parts)
    if way == "words":
        words = score_words(model, own_folder, request.split, request.metrics, request.questions, progress, remark)
        return ScoredModel([*words.losses, *(word_score.score for word_score in words.found)], "questions", words=words)
    searching = _searching_as(model, request)
    scores = evaluate_split(searching, own_folder, request.split, request.metrics, progress, remark)
    parts = (
        evaluate_parts(searching, own_folder, request.split, request.metrics, progress, remark) if request.parts else {}
    )
    keep_scores(own_folder, scores, remark)
    return ScoredModel(scores, "items", parts)


def _searches(model: Loaded) -> bool:
    """Return True if the model's own data is scored by a search, as captions are."""
    return "caption" in model.verbs


def _searching_as(model: Loaded, request: EvaluationRequest) -> Loaded:
    """Return the model with the requested search, if it searches."""
    if not _searches(model):
        return model
    changed = copy(model)
    search = {"beam": request.beam, "length_penalty": request.length_penalty}
    decoding = change_options(model.task.decoding, search, None)
    changed.recipe = model.recipe.model_copy(update={"decoding": decoding})
    return changed


def _evaluate_translator(
    model: TranslationModel, folder: Path | None, request: EvaluationRequest, progress: Progress, remark: Remark
) -> evaluation.Evaluation:
    """Translate the requested data and score it; scores of a split are stored in the folder."""
    metrics = request.metrics or USUAL
    evaluation.check_metrics(metrics)
    check_tokeniser(request.tokenise, metrics)
    if request.source is not None:
        data = evaluation.from_files(request.source, request.references)
    elif request.files is not None:
        data = _from_pairs(model, request.files)
    elif request.test_set is not None:
        data = evaluation.from_named_set(model, request.test_set)
    else:
        data = evaluation.from_split(model, _needed(folder), request.split)
    if request.alignments is not None:
        data = evaluation.with_alignments(data, request.alignments, metrics)
    if folder is not None:
        data = evaluation.mark_learnt(data, model, folder)
    result = evaluation.evaluate(
        model, data, metrics, request.beam, request.length_penalty, progress, remark, request.tokenise, request.helpers
    )
    if result.learnt:
        remark(result.learnt_in_words(len(data.sources)))
    if data.split is not None:
        keep_scores(_needed(folder), result.scores, remark)
    return result


def _from_pairs(model: TranslationModel, files: OwnFiles) -> evaluation.TestData:
    """Return the pairs in the files, read like the model's own data unless columns are chosen."""
    options = check_recipe(with_own_data(model.recipe.model_dump(exclude_none=True), files)).data
    pairs = [pair for corpus in options.test for pair in read_pairs(corpus)]
    if not pairs:
        raise Fault(f"{', '.join(map(str, files.test))} has no pairs to score the model on.")
    return evaluation.from_pairs(pairs, None, options.merge_references)


def evaluate_text(model: LanguageModel, request: EvaluationRequest) -> list[Score]:
    """Score a language model on a text, or on the text column of a table."""
    if request.files is None:
        assert request.source is not None
        return evaluate_file(model, request.source, request.metrics)
    options = check_recipe(with_own_data(model.recipe.model_dump(exclude_none=True), request.files)).data
    lines = (line for file in options.test for _, line in numbered_lines(file))
    return evaluate_lines(model, lines, request.files.test[0], request.metrics)


def _needed(folder: Path | None) -> Path:
    if folder is None:
        raise Fault("This model was not loaded from a folder, so its data is unknown; give the folder, or files.")
    return folder
