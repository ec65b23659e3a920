"""Scoring a translator on a split of its data or on files."""

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
UNTRANSLATED = ("perplexity", "aer")  # metrics for which the model is made to write the references
NO_HELPERS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class TestData:
    """Sentences and one or more whole references for them; None where a sentence has fewer references than others.

    `learnt` says of each sentence whether the model was trained on it, as far as that is known; `origin` is what a
    signature says of the data, if they are a named test set. `alignments` are the links of each sentence with its first
    reference, if they are known.
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
        return list(zip(self.sources, [own[0] for own in by_sentence(self.references)], strict=True))

    def unlearnt(self, outputs: Sequence[str]) -> tuple["TestData", list[str]]:
        """The sentences that are new to the model, and their outputs."""
        new = [not each for each in self.learnt]
        references = [list(compress(each, new)) for each in self.references]
        links = self.alignments and list(compress(self.alignments, new))
        sources = list(compress(self.sources, new))
        others = replace(self, sources=sources, references=references, learnt=(), alignments=links)
        return others, list(compress(outputs, new))


class Evaluation(NamedTuple):
    """The scores; how many of the sentences stand in the training text; and, if some do, the scores of the others.

    A single other sentence is not scored: some metrics need two.
    """

    scores: list[Score]
    learnt: int = 0
    of_others: Sequence[Score] = ()

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"scores": [each.as_dict() for each in self.scores]}
        if self.learnt:
            found["learnt"] = {"n": self.learnt, "scores_of_others": [each.as_dict() for each in self.of_others]}
        return found

    def learnt_in_words(self, sentences: int) -> str:
        """Say what it means that some of the sentences occur in the training text."""
        new = sentences - self.learnt
        if not self.of_others:
            which = "all but one of these" if new else "all of these"
            return (
                f"The model was trained on {which} sentences, so the scores say nothing of how it translates new ones."
            )
        scores = ", ".join(f"{score.metric} {score.shown}" for score in self.of_others)
        return (
            f"The model was trained on {self.learnt:,} of these {sentences:,} sentences (but for case and spaces "
            f"around them). On the {new:,} that are new to it: {scores}."
        )


def from_files(source: Path, references: Sequence[Path], origin: str = "") -> TestData:
    """Read files, refusing references of another length than the source."""
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
    """One of sacreBLEU's test sets in the languages of the model."""
    options = model.recipe.data
    found = named_set(name, f"{options.source_language}-{options.target_language}")
    return from_files(found.source, found.references, found.signature)


def from_split(model: TranslationModel, folder: Path, split: str) -> TestData:
    """A split of the data that the model's recipe names; a validation set held out of the training data lies apart."""
    options = model.recipe.data
    corpora = {"test": options.test, "valid": options.valid}[split]
    if corpora:
        pairs = [pair for corpus in corpora for pair in read_pairs(corpus)]
    elif split == "valid":
        prepared = _data_folder(model, folder)
        if not prepared.is_dir():
            raise Fault(
                f"The recipe of {folder} names no validation data, and none that was held out of the training data "
                f"lies in {prepared}; give --source and --reference."
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
    """Each pair a sentence and its reference; or, merged, each sentence once with all its different translations."""
    if not merge:
        return TestData([source for source, _ in pairs], [[target for _, target in pairs]], split)
    translations: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        translations.setdefault(source, {})[target] = None
    return TestData(list(translations), [list(each) for each in zip_longest(*translations.values())], split)


def mark_learnt(data: TestData, model: TranslationModel, folder: Path) -> TestData:
    """Mark sentences that are also a source in the corpus prepared for the model in `folder`."""
    return replace(data, learnt=are_learnt(_data_folder(model, folder), data.sources))


def with_alignments(data: TestData, file: Path, metrics: Sequence[str]) -> TestData:
    """Return the data with the links that a file has for each of its pairs."""
    if "aer" not in metrics:
        raise Fault("--alignments is for the alignment error rate; add --metric aer.")
    return replace(data, alignments=read_alignment_file(file, len(data.sources)))


def read_alignment_file(file: Path, pairs: int) -> list[Alignment]:
    """Read a file of links, refusing one that has more or fewer lines than there are pairs."""
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
    """Translate the sentences and score the outputs; each signature says how they were searched for.

    `notice` is told if the outputs look as if they should not be scored as they are. `tokenise` is BLEU's tokeniser.
    The `helpers` have a say in what is written.
    """
    check_tokeniser(tokenise, metrics)
    for sentence in language_remarks(model.recipe.data.target_language, metrics, tokenise):
        notice(sentence)
    if "aer" in metrics and data.alignments is None:
        raise Fault("aer compares with known links; give them as --alignments FILE, for each pair a line like 0-0 1-2.")
    error_rate = alignment_scorer(model, notice, progress) if "aer" in metrics else None
    outputs: list[str] = []
    plan = model.plan(beam=beam, length_penalty=length_penalty, n_best=1, **helpers)
    run = runner(model, plan)
    if any(metric not in UNTRANSLATED for metric in metrics):
        for first in range(0, len(data.sources), PORTION):
            portion = data.sources[first : first + PORTION]
            with faults_numbered(range(first, first + len(portion))):
                outputs += [each.text for each in run(whole_texts(portion))]
            progress("translating", len(outputs), len(data.sources))
        if remark := tokenised_remark("The outputs", outputs, metrics, tokenise):
            notice(remark)

    def scores(data: TestData, outputs: Sequence[str]) -> list[Score]:
        found = []
        for metric in metrics:
            if metric == "perplexity":
                found.append(perplexity(model, data))
            elif error_rate is not None and metric == "aer":
                found.append(replace(error_rate(data.pairs, data.alignments or ()), split=data.split))
            else:
                found.append(score_outputs(outputs, data.references, metric, data.split, plan, tokenise))
        return [replace(each, signature=f"{each.signature}|{data.origin}") for each in found] if data.origin else found

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
    """Return one score, signed with the plan by which the outputs were found too."""
    found = score(outputs, references, metric, tokeniser_of(metric, tokenise))
    return replace(found, split=split, signature=f"{found.signature}|{_signature(plan)}")


def _signature(plan: Plan) -> str:
    """Return a plan in the manner of sacreBLEU's signatures: beam and length penalty, then what is not as usual."""
    options, usual = plan.options, DecodingOptions()
    told = {"beam", "length_penalty", "n_best", "sampling"}
    others = [
        f"{name}:{value}"
        for name, value in options.model_dump().items()
        if name not in told and value != getattr(usual, name)
    ]
    helpers = {"fuse": plan.fuse if plan.fuse and plan.fuse[1] else None, "channel": plan.channel, "prior": plan.prior}
    signed = [_signed(kind, *helper) for kind, helper in helpers.items() if helper is not None]
    return "|".join([f"beam:{options.beam}", f"lp:{options.length_penalty:g}", *others, *signed])


def _signed(kind: str, name: ModelName, weight: float) -> str:
    unnamed = "the model to fuse with" if kind == "fuse" else "unnamed"
    return f"{kind}:{Path(called(name, unnamed)).name}:{weight:g}"


@torch.no_grad()
def perplexity(model: TranslationModel, data: TestData) -> Score:
    """The perplexity of the first reference, per token, ends counted."""
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
    return Score("perplexity", total.value, total.signature, len(pairs), data.split)
