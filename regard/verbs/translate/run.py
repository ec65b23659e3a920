"""Translate by a plan with torch: load the other models it names, search, and turn outputs into text."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from regard.attention.watch import is_watched, without_watching
from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.rerank import Channel
from regard.engines.translated import Translated
from regard.loading import Loaded
from regard.tasks.translation.forcing import force_batch, forced_token_scores
from regard.tasks.translation.lengths import check_length
from regard.verbs.opening import model_in
from regard.verbs.translate.fusion import Fusion, as_language_model, fusion_of
from regard.verbs.translate.model import TranslationModel, as_translator
from regard.verbs.translate.plan import Piece, Plan, cutting_for, job_for, plan_for, whole_pieces
from regard.verbs.translate.request import DRAFTS, ModelName, TranslateRequest
from regard.verbs.translate.reranking import Rank, by_channel, by_risk
from regard.verbs.translate.search import find, writer_of
from regard.verbs.translate.unknown import replace_unknown

if TYPE_CHECKING:  # only for a draft, which few ask for
    from regard.verbs.translate.drafting import Drafting

Run = Callable[[Sequence[Piece]], list[Translated]]  # from pieces to their translations, in order


def run(model: TranslationModel, request: TranslateRequest) -> list[Translated]:
    """Translate the texts of a request; alignments are computed only when read."""
    decoding = model.recipe.decoding
    if request.channel is not None:  # n_best beyond the beam widens the beam, in Python
        search = change_options(decoding, {"beam": request.beam, "n_best": request.n_best}, None)
        request = request.model_copy(update={"beam": search.beam})
    plan = plan_for(request, decoding, lambda: getattr(model.export(request.engine), "name", None))
    if not (request.splits_sentences or request.long_texts != "refuse"):
        return _run_by(model, request, plan, whole_pieces(request))
    cutting = cutting_for(request, model.recipe.data.source_language, model.task.source, model.learnt)
    job = job_for(request, plan, cutting)
    with job.faults():
        return job.join(_run_by(model, request, plan, job.pieces))


def _run_by(
    model: TranslationModel, request: TranslateRequest, plan: Plan, pieces: Sequence[Piece]
) -> list[Translated]:
    """Translate pieces with the engine of a plan; outputs of a search are marked if the model is unsure of them."""
    export = None if plan.engine == "torch" else model.export(request.engine)
    if export is None:
        translations = runner(model, plan)(pieces)
    else:
        translations = export.translations(
            [piece.text for piece in pieces], plan.options, plan.explained, plan.explained
        )
    return translations if model.certainty is None or not plan.is_searched else model.certainty.mark(translations)


def model_named(name: ModelName) -> Loaded:
    """Return a loaded model, or load one from its folder."""
    return model_in(name) if isinstance(name, str) else name.content


def translator_named(name: ModelName) -> TranslationModel:
    """Return a loaded translator, or load one from its folder; refuse other models."""
    return as_translator(model_named(name))


def runner(
    model: TranslationModel,
    plan: Plan,
    find_translator: Callable[[ModelName], TranslationModel] = translator_named,
    find_language_model: Callable[[ModelName], Loaded] = model_named,
    place: str = "",
) -> Run:
    """Return a function that translates pieces by a plan; this loads all models that the plan names.

    `place` is the name of the translator's folder in messages, if it is not its path.
    """
    if plan.forced:
        return partial(_score, model)
    if plan.before is not None:
        return partial(_continue, model, plan, plan.before, place)
    fusion = None if plan.fuse is None else _fusion(model, *plan.fuse, find_language_model, place)
    if plan.risk is not None:
        return partial(_search, model, plan, fusion, None, by_risk(model, plan.risk, plan.count))
    rank = None if plan.channel is None else _by_channel(model, plan, find_translator, find_language_model)
    drafting = None if plan.draft is None else _drafting(model, plan, plan.draft, find_language_model)
    return partial(_search, model, plan, fusion, drafting, rank)


def _score(model: TranslationModel, pieces: Sequence[Piece]) -> list[Translated]:
    return model.translate_as([piece.text for piece in pieces], [piece.output for piece in pieces])


def _continue(
    model: TranslationModel, plan: Plan, before: Sequence[str], place: str, pieces: Sequence[Piece]
) -> list[Translated]:
    prefixes = [model.target_tokens(before, piece.text, place) for piece in pieces]
    rows = zip(pieces, prefixes, strict=True)
    return [continue_from(model, piece.text, tokens, plan.options) for piece, tokens in rows]


def _search(
    model: TranslationModel,
    plan: Plan,
    fusion: Fusion | None,
    drafting: "Drafting | None",
    rank: Rank | None,
    pieces: Sequence[Piece],
) -> list[Translated]:
    """Translate pieces by a search; a watcher sees one more pass over the best outputs."""
    texts = [piece.text for piece in pieces]
    with without_watching():
        results = find([model.task, *model.others], pieces, plan, fusion, drafting)
        if rank is not None:
            results = rank(texts, results)
    if is_watched() and texts:
        model.force_watched(texts, [hypotheses[0].tokens for hypotheses in results])
    if plan.dictionary is None:
        return model.translations(texts, results)
    with without_watching():
        return model.translations(texts, results, replace_unknown(model, texts, results, dict(plan.dictionary)))


def continue_from(model: TranslationModel, text: str, before: Sequence[int], options: DecodingOptions) -> Translated:
    """Translate a sentence whose output begins with exactly these tokens; nothing follows an end token."""
    task = model.task
    if task.end in before[:-1]:
        raise Fault("An output is over at its end; no token follows it.")
    check_length(task, text, 0)
    if before[-1:] == [task.end]:
        tokens = list(before[:-1])
        with torch.no_grad():
            (scores,) = forced_token_scores(task, force_batch(task, [text], [tokens]))
        hypotheses = [Hypothesis(tokens, scores.tolist(), float(scores.sum()))]
    else:
        batch, longest = task.read([text]), task.model.options.longest
        limits = task.limits(batch, options).clamp(min=min(len(before) + options.longest_extra, longest))
        (hypotheses,) = beam_search(writer_of([task], options), batch, limits, options, Demands(prefixes=[before]))
    best = hypotheses[0]
    alignment, target = model.align([text], [best.tokens])[0], task.target_for(text)
    return Translated(
        target.decode(best.tokens),
        best.score,
        target.pieces(best.tokens),
        best.token_scores,
        [(target.decode(hypothesis.tokens), hypothesis.score) for hypothesis in hypotheses],
        lambda: alignment,
    )


def _fusion(
    model: TranslationModel, name: ModelName, weight: float, find: Callable[[ModelName], Loaded], place: str
) -> Fusion | None:
    place = place or ("the translator's folder" if model.folder is None else str(model.folder))
    return fusion_of(model, find(name), weight, called(name, "the model to fuse with"), place)


def _drafting(model: TranslationModel, plan: Plan, draft: ModelName, find: Callable[[ModelName], Loaded]) -> "Drafting":
    from regard.verbs.translate.drafting import drafting_of

    if model.others:
        raise Fault("A draft helps one model to write, not an ensemble; omit it.")
    drafter = None if draft in DRAFTS else find(draft)
    return drafting_of(model, drafter or str(draft), plan.options, called(draft, "the model of the draft"))


def _by_channel(
    model: TranslationModel,
    plan: Plan,
    find_translator: Callable[[ModelName], TranslationModel],
    find_language_model: Callable[[ModelName], Loaded],
) -> Rank:
    assert plan.channel is not None
    (name, weight), prior, prior_weight = plan.channel, None, 0.0
    backward = find_translator(name)
    if plan.prior is not None:
        prior_name, prior_weight = plan.prior
        prior = as_language_model(find_language_model(prior_name), called(prior_name, "the prior"))
    return by_channel(model, backward, Channel(weight, prior_weight), prior, plan.count)


def called(name: ModelName, unnamed: str) -> str:
    """Return the name of a model for messages: its name, its folder, or `unnamed`."""
    content: Any = None if isinstance(name, str) else name.content
    return str(name if content is None else content.folder or unnamed)
