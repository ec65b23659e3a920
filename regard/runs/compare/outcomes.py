"""Outcomes of a run: its outputs for the test sentences, stored next to its weights, and their scores."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ValidationError

from regard.base.files import write_file
from regard.base.progress import Progress
from regard.decoding.options import DecodingOptions
from regard.measuring import scores_of
from regard.metrics import BETTER, Score, by_sentence
from regard.metrics.significance import Sums, likelihood_sums, summing
from regard.protocols import Better
from regard.runs.compare.plan import PlannedRun
from regard.runs.evaluate import measure_on, sums_on
from regard.runs.kept_scores import keep_scores
from regard.training import checkpoint
from regard.training.pace import read_pace
from regard.verbs.opening import model_in
from regard.verbs.translate import evaluation
from regard.verbs.translate.evaluation import TestData
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.run import runner

OUTPUTS = "outputs.json"  # in the folder of a run
PERPLEXITY = "perplexity"
_FORCED_AT_ONCE = 64  # references whose likelihood is computed together


class KeptOutputs(BaseModel):
    """The outputs of a run and a fingerprint of what made them; `nats` and `tokens` describe the references.

    A field is None until a metric needs it.
    """

    made_from: str
    split: str
    outputs: list[str] | None = None
    nats: list[float] | None = None
    tokens: list[int] | None = None


@dataclass(frozen=True)
class Outcome:
    """A judged run: its scores, the sums behind them, its size, and the items and seconds of its training."""

    run: PlannedRun
    scores: list[Score]
    sums: dict[str, Sums]  # per sentence or other example, for metrics computed from those
    parameters: int
    pace: tuple[int, float]
    better: dict[str, Better]  # the better direction of each metric
    sources: Sequence[str] = ()  # sentences that were translated


def judge(run: PlannedRun, split: str, metrics: Sequence[str], progress: Progress) -> Outcome:
    """Score a trained run on a split."""
    model = model_in(run.folder, getattr(run.recipe.training, "device", "cpu"))
    if isinstance(model, TranslationModel):
        return _judge_translations(run, model, split, metrics)
    measures = measure_on(model, run.folder, split, metrics, progress, lambda text: None)
    scores = scores_of(measures, split)
    keep_scores(run.folder, scores)
    better = {name: measure.better for name, measure in measures.items()}
    sums = sums_on(model, run.folder, split, list(measures), progress)
    return Outcome(run, scores, sums, model.parameters, read_pace(run.folder / "training"), better)


def _judge_translations(run: PlannedRun, model: TranslationModel, split: str, metrics: Sequence[str]) -> Outcome:
    """Translate a split with a trained translator, unless its outputs are stored already, and score them."""
    data = evaluation.from_split(model, run.folder, split)
    plan = model.plan(n_best=1)
    stored = _read(run.folder, KeptOutputs(made_from=_fingerprint(run.folder, data, plan.options), split=split))
    if stored.outputs is None and any(metric != PERPLEXITY for metric in metrics):
        stored.outputs = [translation.text for translation in runner(model, plan)(whole_texts(data.sources))]
    if stored.nats is None and PERPLEXITY in metrics:
        stored.nats, stored.tokens = _likelihood(model, data)
    write_file(run.folder / OUTPUTS, stored.model_dump_json(indent=1).encode())
    scores = [
        evaluation.perplexity(model, data)
        if metric == PERPLEXITY
        else evaluation.score_outputs(stored.outputs or [], data.references, metric, split, plan)
        for metric in metrics
    ]
    keep_scores(run.folder, scores)
    sums = {metric: _sums(metric, stored, data) for metric in metrics}
    pace, better = read_pace(run.folder / "training"), {metric: BETTER[metric] for metric in metrics}
    return Outcome(run, scores, sums, model.parameters, pace, better, data.sources)


def _sums(metric: str, stored: KeptOutputs, data: TestData) -> Sums:
    if metric == PERPLEXITY:
        return likelihood_sums(stored.nats or [], stored.tokens or [])
    return summing(metric)(stored.outputs or [], data.references)


def _read(folder: Path, empty: KeptOutputs) -> KeptOutputs:
    """Read the outputs stored in the folder; return `empty` if the weights, sentences or search have changed."""
    try:
        stored = KeptOutputs.model_validate_json((folder / OUTPUTS).read_bytes())
    except (OSError, ValidationError):
        return empty
    return stored if stored.made_from == empty.made_from else empty


def _fingerprint(folder: Path, data: TestData, search: DecodingOptions) -> str:
    """Return a fingerprint of everything outputs depend on: weights, sentences with references, and search."""
    weights = sha256(checkpoint.read_folder(folder, [checkpoint.WEIGHTS])[checkpoint.WEIGHTS]).hexdigest()
    parts = [weights, data.sources, [list(reference) for reference in data.references], search.model_dump()]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _likelihood(model: TranslationModel, data: TestData) -> tuple[list[float], list[int]]:
    """Return the nats of each sentence's first reference, and its number of tokens including the end."""
    first = [references_of_sentence[0] or "" for references_of_sentence in by_sentence(data.references)]
    references = model.task.encode_targets(data.sources, first)
    nats: list[float] = []
    for start in range(0, len(references), _FORCED_AT_ONCE):
        portion = slice(start, start + _FORCED_AT_ONCE)
        nats += (-model.force(data.sources[portion], references[portion])).tolist()
    return nats, [len(tokens) + 1 for tokens in references]
