"""Scoring a model of any kind, on a split of its own data or on files."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.decoding.options import change_options
from regard.metrics import Score
from regard.metrics.bleu import check_tokeniser
from regard.model import Model
from regard.runs.evaluate import evaluate_split
from regard.runs.scores import keep_scores
from regard.runs.word_scores import WordQuestions, score_words
from regard.verbs.generate.evaluation import evaluate_file
from regard.verbs.generate.model import LanguageModel
from regard.verbs.translate import evaluation
from regard.verbs.translate.helpers import NO_HELPERS, Helpers
from regard.verbs.translate.model import TranslationModel

USUAL = ("bleu", "chrf")  # of a translator, when nobody names a metric


@dataclass(frozen=True)
class EvaluationRequest:
    """What a model is to be scored on, and by what; a test set is one of sacreBLEU's, by its name."""

    split: str = "test"
    source: Path | None = None
    references: Sequence[Path] = ()
    metrics: Sequence[str] = ()
    beam: int | None = None
    length_penalty: float | None = None
    helpers: Helpers = NO_HELPERS
    test_set: str | None = None
    tokenise: str | None = None


def score_model(
    model: Model, folder: Path | None, asked: EvaluationRequest, progress: Progress, remark: Remark
) -> list[Score]:
    """The scores that are asked for; those of a split are kept in the folder, and so need one."""
    if isinstance(model, TranslationModel):
        if (asked.source is None) != (not asked.references):
            raise Fault("A source and its references belong together; give both, or a split.")
        return evaluate_translator(model, folder, asked, progress, remark).scores
    if asked.references:
        raise Fault("References are for translators, which this model is not.")
    if asked.beam is not None or asked.length_penalty is not None:
        if not searches(model):
            raise Fault("A beam and its length penalty are for models that search, which this one does not.")
        model = with_search(model, asked.beam, asked.length_penalty)
    if asked.helpers != NO_HELPERS:
        raise Fault("Models to fuse with or to rerank by are for translators, which this model is not.")
    if asked.source is not None:
        if not isinstance(model, LanguageModel):
            raise Fault("A source is for translators and language models; this one is scored on a split of its data.")
        return evaluate_file(model, asked.source, asked.metrics)
    own = _needed(folder)
    if "neighbours" in model.verbs:
        scored = score_words(model, own, asked.split, asked.metrics, WordQuestions(), progress, remark)
        return [*scored.losses, *(each.score for each in scored.found)]
    scores = evaluate_split(model, own, asked.split, asked.metrics, progress, remark)
    keep_scores(own, scores, remark)
    return scores


def searches(model: Model) -> bool:
    """Whether what a model of its own data is scored by is found by a search, as captions are."""
    return "caption" in model.verbs


def with_search(model: Model, beam: int | None, length_penalty: float | None) -> Model:
    """The same model, searching as these say."""
    changed = copy(model)
    decoding = change_options(model.task.decoding, {"beam": beam, "length_penalty": length_penalty}, None)
    changed.recipe = model.recipe.model_copy(update={"decoding": decoding})
    return changed


def evaluate_translator(
    model: TranslationModel, folder: Path | None, asked: EvaluationRequest, progress: Progress, remark: Remark
) -> evaluation.Evaluation:
    """Translate what is asked for and score it; the scores of a split are kept in the folder."""
    metrics = asked.metrics or USUAL
    evaluation.check_metrics(metrics)
    check_tokeniser(asked.tokenise, metrics)
    if asked.source is not None:
        data = evaluation.from_files(asked.source, asked.references)
    elif asked.test_set is not None:
        data = evaluation.from_named_set(model, asked.test_set)
    else:
        data = evaluation.from_split(model, _needed(folder), asked.split)
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


def _needed(folder: Path | None) -> Path:
    if folder is None:
        raise Fault("This model was not loaded from a folder, so nobody knows its data; give the folder, or files.")
    return folder
