"""Score a translator on a split of its data or on files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.attention.alignments import Alignment, read_alignments
from regard.base.faults import Fault, faults_numbered
from regard.base.figures import quantity
from regard.base.progress import Progress, silent
from regard.data.corpora.prepared import are_learnt, read_valid
from regard.data.corpora.text import read_pairs
from regard.data.lines import read_lines
from regard.decoding.options import DecodingOptions
from regard.measuring import measure_in_pieces
from regard.metrics import METRICS, References, Score, by_sentence, score
from regard.metrics.bleu import check_tokeniser, tokeniser_of
from regard.metrics.named_sets import named_set
from regard.metrics.text import language_remarks
from regard.metrics.tokenised import tokenised_remark
from regard.protocols import Measure
from regard.tasks.translation.lengths import check_length, check_target
from regard.verbs.translate.alignment_score import alignment_scorer, true_alignments
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import Plan, whole_texts
from regard.verbs.translate.request import ModelName
from regard.verbs.translate.run import called, runner

PORTION = 256  # sentences between two reports of progress
UNTRANSLATED = ("perplexity", "aer")  # metrics for which the model is forced to write the references
NO_HELPERS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class TestData:
    """Sentences and one or more lists of references; None where a sentence has fewer references than others.

    `learnt` tells for each sentence whether the model was trained on it, as far as known; `origin` names a test set in
    signatures. `alignments` are the links between each sentence and its first reference, if known.
    """

    sources: list[str]
    references: References
    split: str | None
    learnt: Sequence[bool] = ()
    origin: str = ""
    alignments: Sequence[Alignment] | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each sentence and its first reference."""
        return list(zip(self.sources, [references[0] for references in by_sentence(self.references)], strict=True))

    def unlearnt(self, outputs: Sequence[str]) -> tuple["TestData", list[str]]:
        """Return the sentences that are new to the model, and their outputs."""
        new = [not known for known in self.learnt]
        references = [list(compress(lines, new)) for lines in self.references]
        links = self.alignments and list(compress(self.alignments, new))
        sources = list(compress(self.sources, new))
        others = replace(self, sources=sources, references=references, learnt=(), alignments=links)
        return others, list(compress(outputs, new))


class Evaluation(NamedTuple):
    """The scores, the number of sentences that are in the training text and, if any are, the scores of the others.

    A single other sentence is not scored, because some metrics need two.
    """

    scores: list[Score]
    learnt: int = 0
    of_others: Sequence[Score] = ()

    def as_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"scores": [score.as_dict() for score in self.scores]}
        if self.learnt:
            fields["learnt"] = {"n": self.learnt, "scores_of_others": [score.as_dict() for score in self.of_others]}
        return fields

    def learnt_in_words(self, sentences: int) -> str:
        """Return a sentence on what it means that some of the sentences are in the training text."""
        new = sentences - self.learnt
        if not self.of_others:
            which = "all but one of these" if new else "all of these"
            return f"The model was trained on {which} sentences, so the scores say nothing about new ones."
        scores = ", ".join(f"{score.metric} {score.shown}" for score in self.of_others)
        return (
            f"The model was trained on {self.learnt:,} of these {sentences:,} sentences (ignoring case and spaces "
            f"around them). On the {new:,} new ones: {scores}."
        )


def from_files(source: Path, references: Sequence[Path], origin: str = "") -> TestData:
    """Read files; refuse references that do not have as many lines as the source."""
    sources = list(read_lines(source))
    if not sources:
        raise Fault(f"{source} is empty; it has no sentences.")
    lists = []
    for path in references:
        lines = list(read_lines(path))
        if len(lines) != len(sources):
            raise Fault(f"{source} has {quantity(len(sources), 'line')} but {path} has {len(lines):,}.")
        lists.append(lines)
    return TestData(sources, lists, None, origin=origin)


def from_named_set(model: TranslationModel, name: str) -> TestData:
    """Read one of sacreBLEU's test sets in the model's languages."""
    options = model.recipe.data
    test_set = named_set(name, f"{options.source_language}-{options.target_language}")
    return from_files(test_set.source, test_set.references, test_set.signature)


def from_split(model: TranslationModel, folder: Path, split: str) -> TestData:
    """Read a split of the data in the model's recipe, or the validation data held out of the training data."""
    options = model.recipe.data
    corpora = {"test": options.test, "valid": options.valid}[split]
    if corpora:
        pairs = [pair for corpus in corpora for pair in read_pairs(corpus)]
    elif split == "valid":
        prepared = _data_folder(model, folder)
        if not prepared.is_dir():
            raise Fault(
                f"The recipe of {folder} names no validation data, and none held out of the training data "
                f"is in {prepared}; give --source and --reference."
            )
        pairs = read_valid(prepared)
    else:
        held_out = ", or --split valid" if _data_folder(model, folder).is_dir() else ""
        raise Fault(f"The recipe of {folder} names no test data; give --source and --reference{held_out}.")
    data = from_pairs(pairs, split, options.merge_references)
    return data if options.merge_references else replace(data, alignments=true_alignments(corpora))


def _data_folder(model: TranslationModel, folder: Path) -> Path:
    return Path(model.recipe.data.prepared or folder / "training" / "corpus")


def from_pairs(pairs: Sequence[tuple[str, str]], split: str | None, merge: bool) -> TestData:
    """Return pairs as sentences with one reference; or, merged, each sentence once with all its translations."""
    if not merge:
        return TestData([source for source, _ in pairs], [[target for _, target in pairs]], split)
    translations: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        translations.setdefault(source, {})[target] = None
    return TestData(list(translations), [list(targets) for targets in zip_longest(*translations.values())], split)


def mark_learnt(data: TestData, model: TranslationModel, folder: Path) -> TestData:
    """Mark sentences that are also a source sentence in the corpus prepared for the model in `folder`."""
    return replace(data, learnt=are_learnt(_data_folder(model, folder), data.sources))


def with_alignments(data: TestData, file: Path, metrics: Sequence[str]) -> TestData:
    """Return the data with the links from a file, one line per pair."""
    if "aer" not in metrics:
        raise Fault("--alignments is for the alignment error rate; add --metric aer.")
    return replace(data, alignments=read_alignment_file(file, len(data.sources)))


def read_alignment_file(file: Path, pairs: int) -> list[Alignment]:
    """Read a file of links; refuse one with more or fewer lines than pairs."""
    alignments = read_alignments(read_lines(file))
    if len(alignments) != pairs:
        raise Fault(
            f"{file} has {quantity(len(alignments), 'line')} for {quantity(pairs, 'pair')}; each pair needs one."
        )
    return alignments


def check_metrics(metrics: Sequence[str]) -> None:
    for metric in metrics:
        if metric not in UNTRANSLATED and metric not in METRICS:
            raise Fault(f"There is no metric '{metric}'; there are {', '.join([*METRICS, *UNTRANSLATED])}.")


def evaluate(
    model: TranslationModel,
    data: TestData,
    metrics: Sequence[str],
    beam: int | None = None,
    length_penalty: float | None = None,
    progress: Progress = silent,
    notice: Callable[[str], None] = lambda remark: None,
    tokenise: str | None = None,
    helpers: Mapping[str, Any] = NO_HELPERS,
) -> Evaluation:
    """Translate the sentences and score the outputs; each signature records the search.

    `notice` gets remarks if the outputs do not look fit to be scored. `tokenise` is BLEU's tokeniser. The `helpers` are
    further models that take part in the search or rerank its outputs.
    """
    check_tokeniser(tokenise, metrics)
    for sentence in language_remarks(model.recipe.data.target_language, metrics, tokenise):
        notice(sentence)
    if "aer" in metrics and data.alignments is None:
        raise Fault("aer needs known links; give them as --alignments FILE, with a line like 0-0 1-2 for each pair.")
    error_rate = alignment_scorer(model, notice, progress) if "aer" in metrics else None
    outputs: list[str] = []
    plan = model.plan(beam=beam, length_penalty=length_penalty, n_best=1, **helpers)
    run = runner(model, plan)
    if any(metric not in UNTRANSLATED for metric in metrics):
        for first in range(0, len(data.sources), PORTION):
            portion = data.sources[first : first + PORTION]
            with faults_numbered(range(first, first + len(portion))):
                outputs += [item.text for item in run(whole_texts(portion))]
            progress("translating", len(outputs), len(data.sources))
        if remark := tokenised_remark("The outputs", outputs, metrics, tokenise):
            notice(remark)

    def scores(data: TestData, outputs: Sequence[str]) -> list[Score]:
        results = []
        for metric in metrics:
            if metric == "perplexity":
                results.append(perplexity(model, data))
            elif error_rate is not None and metric == "aer":
                results.append(replace(error_rate(data.pairs, data.alignments or ()), split=data.split))
            else:
                results.append(score_outputs(outputs, data.references, metric, data.split, plan, tokenise))
        return (
            [replace(item, signature=f"{item.signature}|{data.origin}") for item in results] if data.origin else results
        )

    learnt = sum(data.learnt)
    compared = learnt and len(data.sources) - learnt > 1
    return Evaluation(scores(data, outputs), learnt, scores(*data.unlearnt(outputs)) if compared else ())


def score_outputs(
    outputs: Sequence[str],
    references: References,
    metric: str,
    split: str | None,
    plan: Plan,
    tokenise: str | None = None,
) -> Score:
    """Return one score, with the plan of the search in its signature."""
    result = score(outputs, references, metric, tokeniser_of(metric, tokenise))
    return replace(result, split=split, signature=f"{result.signature}|{_signature(plan)}")


def _signature(plan: Plan) -> str:
    """Return a plan in the style of sacreBLEU's signatures: beam and length penalty, then non-default options."""
    options, usual = plan.options, DecodingOptions()
    listed = {"beam", "length_penalty", "n_best", "sampling"}
    others = [
        f"{name}:{value}"
        for name, value in options.model_dump().items()
        if name not in listed and value != getattr(usual, name)
    ]
    helpers = {"fuse": plan.fuse if plan.fuse and plan.fuse[1] else None, "channel": plan.channel, "prior": plan.prior}
    parts = [_signed(kind, *helper) for kind, helper in helpers.items() if helper is not None]
    return "|".join([f"beam:{options.beam}", f"lp:{options.length_penalty:g}", *others, *parts])


def _signed(kind: str, name: ModelName, weight: float) -> str:
    unnamed = "the model to fuse with" if kind == "fuse" else "unnamed"
    return f"{kind}:{Path(called(name, unnamed)).name}:{weight:g}"


@torch.no_grad()
def perplexity(model: TranslationModel, data: TestData) -> Score:
    """Return the perplexity of the first references, per token, including ends."""
    total: Measure | None = None
    pairs = data.pairs
    for number, (source, target) in enumerate(pairs):
        check_length(model.task, source, number)
        check_target(model.task, target, number)
    for first in range(0, len(pairs), PORTION):
        for measures in measure_in_pieces(model.task, model.task.pair_up(pairs[first : first + PORTION])):
            total = measures["perplexity"] if total is None else total + measures["perplexity"]
    if total is None:
        raise Fault("There is nothing to score: no sentences were given.")
    which = f", of the first of {len(data.references)} references" if len(data.references) > 1 else ""
    return Score("perplexity", total.value, f"{total.signature}{which}", len(pairs), data.split)
